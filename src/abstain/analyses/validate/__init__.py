"""Would a submission be accepted?"""
