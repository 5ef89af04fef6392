"""Messages in the words of the page: what the command line says by an option is said by what can be done here."""

import re

_NAME = r"(?:'[^']*'|\"[^\"]*\"|NAME|\S+?)"

# What tables and workflow say to those who type commands, and what is said here in its place; the first that fits
# counts. tests/app/test_page_words.py walks all of their messages, so that none is forgotten.
_RULES: tuple[tuple[str, str], ...] = (
    # columns
    (rf"leave the column out with --exclude {_NAME}", "leave the column out"),
    (
        rf"leave them out with --exclude {_NAME}, or read them as text with --text-column {_NAME}",
        "leave them out, or read them as text, under Columns",
    ),
    (
        rf"Say what it is: --exclude {_NAME} leaves it out, --id-column {_NAME} if it names the rows, --text-column "
        rf"{_NAME} takes the values as text",
        "Say under Columns what it is: left out, an identifier that names the rows, or text",
    ),
    (rf"leave it out with --exclude {_NAME}", "leave it out under Columns"),
    (rf"--keep {_NAME} takes it back in", "it can be taken back in under Columns"),
    (r"\(--keep NAME learns from a column all the same\.\)", "(Under Columns they can be taken back in.)"),
    (r"left out \(--exclude\)", "left out"),
    (
        r"is named in --([a-z-]+) and in --([a-z-]+)\. Leave out one of them",
        r"is named as --\1 and as --\2. Say under Columns which it is",
    ),
    (r" name it with --header-row", " delete the rows above it"),
    (
        rf" An array has no labels in it: name a table that has as many rows, and the labels in a column {_NAME}, with "
        r"--labels FILE\.",
        " An array has no labels in it: begin a new column for them.",
    ),
    # labels
    (r"or name another column with --label-column", "or choose another column"),
    (r"Add --keep-labels-as-typed if", "Give them names of their own in the table if"),
    (r" If each of them is a class, add --keep-labels-as-typed\.", ""),
    # classes or numbers
    (r"--numbers and --keep-labels-as-typed contradict", "Numbers and labels as they are typed contradict"),
    (r" --classes takes each of them as a class\.", " They can be taken as classes when the table is opened."),
    (r" --numbers takes them by their size\.", " They can be taken as numbers when the table is opened."),
    (r"or take each different text as a class with --classes", "or take each different text as a class"),
    (r"or, to take each date as a class, add --classes", "or take each date as a class"),
    # texts
    (
        r"--text-encoder with its name or folder",
        "it is named when the page is started",
    ),
    (r"--text-encoder ngrams compares texts by their letters", "texts can be compared by their letters"),
    # files
    (r" Or read another sheet with --sheet: (.*)\.", r" Or save another sheet (\1) as a file of its own."),
    (
        r"--sheet takes another \((.*?)\)",
        r"another (\1) can be saved as a file of its own",
    ),
    (rf"--sheet {_NAME}: ", ""),
    (
        r"Say with --header-row which row has the column names, such as --header-row (\S+?)\.",
        r"If row \1 has the column names, delete the rows above it.",
    ),
    (r"name the row with --header-row", "delete the rows above the column names"),
    (rf"--header-row {_NAME}: that row", "The row of the column names"),
    (r"--sheet and --header-row are", "Sheets are"),
    (r"read it with --encoding cp1252, or save it as UTF-8", "save it as UTF-8"),
    (rf"--encoding {_NAME}: there is no such encoding", "There is no such encoding"),
    (r"or another --delimiter needed", "or another character between the cells"),
    (r"--delimiter must be", "What separates cells must be"),
    (
        r"; or name with --id-column a column of ids that the file with the embeddings has as well "
        r"\(\.npz, \.parquet\)",
        "",
    ),
    (r" --id-column goes by ids that both files have\.", ""),
    # what is left: options that a column is named in
    (r"--label-column\b", "the column with the labels"),
    (r"--id-column\b", "an identifier"),
    (r"--text-column\b", "text"),
    (r"--category-column\b", "a category"),
    (r"--exclude\b", "left out"),
    (r"--keep\b", "learned from"),
)
_COMPILED = tuple((re.compile(pattern), words) for pattern, words in _RULES)


def in_page_words(message: str) -> str:
    """Return a message without options of the command line.

    Examples
    --------
    >>> in_page_words("Nothing is learned from it; --keep 'n' takes it back in.")
    'Nothing is learned from it; it can be taken back in under Columns.'
    """
    begins_with_option = message.startswith("--")
    for pattern, words in _COMPILED:
        message = pattern.sub(words, message)
    return message[:1].upper() + message[1:] if begins_with_option else message
