"""Write a table of made-up support tickets, 40 of them sorted into categories, to try `semikpca label` on.

python examples/make_support_tickets.py                          # support_tickets.csv
python examples/make_support_tickets.py tickets.xlsx --rows 5000
semikpca label support_tickets.csv --label-column category --id-column ticket_id
"""

import argparse
from collections import Counter

from semikpca.datasets import make_support_tickets
from semikpca.tables import write_table


def main():
    """Write the file and say what is in it."""
    parser = argparse.ArgumentParser(description="Write a table of made-up support tickets.")
    parser.add_argument("file", nargs="?", default="support_tickets.csv", help="csv, tsv, xlsx, parquet or jsonl")
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--labels", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    tickets = make_support_tickets(options.rows, options.labels, options.seed)
    write_table(tickets, options.file)

    given = Counter(label for label in tickets["category"] if label)
    print(f"{options.file}: {len(tickets)} tickets, {sum(given.values())} of them with a category:")
    for category, count in given.most_common():
        print(f"  {category:<16} {count:3d}")


if __name__ == "__main__":
    main()
