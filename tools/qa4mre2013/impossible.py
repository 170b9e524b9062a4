"""Shows that the published figures which the campaign misses cannot all be met.

python impossible.py --published DIR
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path

from counts import CountsFinder, attainable, c_at_1

from published import Group, Published, read_published

MUSIC: Group = ("topic", "Music and Society")


def main() -> None:
    """Prints one finding a line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--published", type=Path, required=True, metavar="DIR")
    published = read_published(parser.parse_args().published)
    show_unattainable_scores(published)
    show_percents(published)
    show_median(published)
    show_deviation(published)


def show_unattainable_scores(published: Published) -> None:
    """Table 15: scores that no whole number of questions gives, for sizes that were considered."""
    for subset, sizes in (
        ("auxiliary", (44,)),
        ("nca", (39, 97)),
        ("modality_negation", (28, 30, 40)),
    ):
        for size in sizes:
            runs = [
                run.name
                for run in published.runs
                if not attainable(size, run.scores["subset", subset], run.unanswered)
            ]
            print(f"Table 15, {subset} of {size} questions: {len(runs)} unattainable {runs}")


def show_percents(published: Published) -> None:
    """Table 17: the whole numbers nearest to the percents, and what they come to."""
    for name, tally in published.types.items():
        responses = tally.questions * len(published.runs)
        percents = [
            f"{count}/{responses} = {100 * count / responses:.4f} %"
            for count in (tally.right, tally.unanswered)
        ]
        print(f"Table 17, {name}: right {percents[0]}, unanswered {percents[1]}")
    right = sum(tally.right for tally in published.types.values())
    blank = sum(tally.unanswered for tally in published.types.values())
    print(f"Table 17 adds up to {right} right and {blank} unanswered,")
    right = sum(run.right for run in published.runs)
    blank = sum(run.unanswered for run in published.runs)
    print(f"Table 14 to {right} and {blank}")


def show_median(published: Published) -> None:
    """Appendix 1: the highest median that counts by test, topic and run allow for Music."""
    finder = CountsFinder(published)
    highest = []
    for run in published.runs:
        allowed = finder.allowed(run, run.scores)
        for group in allowed:
            if group[0] == "subset":
                size = finder.group_sizes[group]
                allowed[group] = [(r, b) for r in range(size + 1) for b in range(size + 1 - r)]
        size = finder.group_sizes[MUSIC]
        highest.append(
            max(
                c_at_1(right, blank, size)
                for right, blank in allowed[MUSIC]
                if finder.feasible(run, allowed | {MUSIC: [(right, blank)]})
            )
        )
    highest.sort()
    median = (highest[len(highest) // 2 - 1] + highest[len(highest) // 2]) / 2
    print(f"Appendix 1, median of Music and Society: at most {float(median):.5f}")


def show_deviation(published: Published) -> None:
    """Appendix 2: the lowest standard deviation that the scores of test 6 allow.

    The centre is tried in steps of 0.0005, which is exact to six decimals.
    """
    finder = CountsFinder(published)
    size = finder.group_sizes["test", 6]
    values = [
        [
            c_at_1(right, blank, size)
            for right, blank in attainable(size, run.scores["test", 6], run.unanswered)
        ]
        for run in published.runs
    ]
    centres = [Fraction(i, 2000) for i in range(560, 601)]
    squares = min(sum(min((x - c) ** 2 for x in of_run) for of_run in values) for c in centres)
    runs = len(values)
    print(
        f"Appendix 2, standard deviation of test 6, printed 0.10: at least "
        f"{float(squares / (runs - 1)) ** 0.5:.5f} as a sample's, "
        f"{float(squares / runs) ** 0.5:.5f} as a population's"
    )


if __name__ == "__main__":
    main()
