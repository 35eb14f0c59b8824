"""Summer means of total phosphorus in Lake Ansel, from measurements.csv."""

import csv
from collections import defaultdict
from pathlib import Path
from statistics import mean

SUMMER = {"06", "07", "08"}


def summer_means(path: Path) -> dict[str, float]:
    """Mean of June to August over both stations, by year."""
    values: dict[str, list[float]] = defaultdict(list)
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            year, month, _ = row["date"].split("-")
            if month in SUMMER:
                values[year].append(float(row["total_p_ug_l"]))
    return {year: mean(measured) for year, measured in sorted(values.items())}


if __name__ == "__main__":
    means = summer_means(Path(__file__).with_name("measurements.csv"))
    for year, value in means.items():
        print(f"{year}: {value:.0f} µg/l")
    first, last = means["2019"], means["2023"]
    print(f"change 2019 to 2023: {100 * (last - first) / first:.0f} %")
