"""Label text documents with a string kernel: no vectors, no vocabulary, no training data but these.

The rows are plain strings. Two letters to a shop share a topic when they share pieces of words; that is all the model
is told. Labels are strings, and None where there is none.

    python examples/text_documents.py
"""

from collections import Counter
from math import sqrt

import numpy as np

from semikpca import SemiKPCAClassifier

LETTERS = {
    "delivery": [
        "My parcel has not arrived, although it was shipped ten days ago.",
        "The courier left the parcel with a neighbor I do not know.",
        "When will my order be delivered? The tracking page shows nothing.",
        "The package arrived with a broken box and one glass is missing.",
        "Can you ship my order to a different address?",
        "Tracking says delivered, but no parcel was left at my door.",
        "Please hold the delivery, I am away until Monday.",
        "The courier never rang and took the package back to the depot.",
        "Is express shipping possible for an order to Norway?",
        "Half of my order arrived today, when is the rest shipped?",
    ],
    "payment": [
        "I was charged twice for the same invoice.",
        "My credit card was declined, but the bank says it is fine.",
        "Please send me an invoice with our tax number on it.",
        "The refund has not reached my bank account yet.",
        "You charged the full price, the discount code was ignored.",
        "Can I pay by bank transfer instead of credit card?",
        "The amount on the invoice differs from what my card was charged.",
        "I want a refund, the payment went through after I cancelled.",
        "Which currency is charged when I pay with a foreign card?",
        "There is a charge on my bank statement that I do not recognize.",
    ],
    "account": [
        "I forgot my password and the reset mail does not come.",
        "I cannot log in since I changed my email address.",
        "Please delete my account and all my data.",
        "The login page says that my password is wrong, but it is not.",
        "How do I change the email address of my account?",
        "Somebody else logged in to my account, please lock it.",
        "The password reset link has expired, please send a new one.",
        "My user name is shown with a typing error on the profile page.",
        "I get logged out every time I close the page.",
        "Can two users share one login?",
    ],
}
NEW_LETTERS = [
    "The tracking number you sent me does not work.",
    "Your shop charged my card although the payment failed.",
    "How can I set a new password for my login?",
]
LABELS_PER_TOPIC = 2


def pieces(text, length=4):
    """Return how often each piece of ``length`` letters occurs, words kept apart by blanks."""
    words = "".join(letter if letter.isalpha() else " " for letter in text.lower()).split()
    padded = f" {' '.join(words)} "
    return Counter(padded[i : i + length] for i in range(len(padded) - length + 1))


def shared_pieces(text, other):
    """Return the cosine between the piece counts of two texts: a string kernel."""
    a, b = pieces(text), pieces(other)
    product = sum(count * b[piece] for piece, count in a.items())
    return product / sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()))


def main():
    """Print the topic of every letter, from two labels for each topic."""
    texts = [text for letters in LETTERS.values() for text in letters]
    truth = np.array([topic for topic, letters in LETTERS.items() for _ in letters])
    y = [topic if i < LABELS_PER_TOPIC else None for topic, letters in LETTERS.items() for i in range(len(letters))]
    unlabeled = np.array([label is None for label in y])

    model = SemiKPCAClassifier(shared_pieces).fit(texts, y)
    right = model.transduction_ == truth
    print(f"{len(texts)} letters, {np.sum(~unlabeled)} labels.")
    print(f"Right on {right[unlabeled].sum()} of the {unlabeled.sum()} letters without a label.\n")
    print(model.certificate_)

    print("\nThe letters that the model got wrong, and how sure it was:")
    for row in np.flatnonzero(unlabeled & ~right):
        sure = model.label_distributions_[row].max()
        print(f"  {model.transduction_[row]:<8} {sure:.2f}  {texts[row]}  ({truth[row]})")

    print("\nLetters that came in later:")
    for text, topic, shares in zip(
        NEW_LETTERS, model.predict(NEW_LETTERS), model.predict_proba(NEW_LETTERS), strict=True
    ):
        print(f"  {topic:<8} {shares.max():.2f}  {text}")


if __name__ == "__main__":
    main()
