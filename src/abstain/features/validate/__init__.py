"""Would these runs be accepted?"""
