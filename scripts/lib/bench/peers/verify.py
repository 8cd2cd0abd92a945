"""Apple's library: how many transactions a second it verifies and decodes on one core, offline."""

import os
import statistics
import time

from appstoreserverlibrary.api_client import AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

COUNT = 1000


def read(name):
    with open(os.environ[name], "rb") as file:
        return file.read()


def transactions():
    """The first records of the simulated store, fetched by the library itself."""
    client = AppStoreServerAPIClient(
        read("APPSTORE_PRIVATE_KEY_FILE"),
        os.environ["APPSTORE_KEY_ID"],
        os.environ["APPSTORE_ISSUER_ID"],
        os.environ["APPSTORE_BUNDLE_ID"],
        Environment.PRODUCTION,
    )
    client._base_url = os.environ["APPSTORE_BASE_URL"]
    with open(os.environ["TRANSACTION_IDS_CSV"]) as file:
        ids = file.read().split()[1:]
    found = []
    for identifier in ids:
        page = client.get_transaction_history(
            identifier, None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2
        )
        found += page.signedTransactions
        if len(found) >= COUNT:
            break
    return found[:COUNT]


signed = transactions()
verifier = SignedDataVerifier(
    [read("APPSTORE_TRUSTED_ROOT")],
    False,
    Environment.PRODUCTION,
    os.environ["APPSTORE_BUNDLE_ID"],
    int(os.environ["APPSTORE_APP_APPLE_ID"]),
)
for text in signed[:100]:
    verifier.verify_and_decode_signed_transaction(text)
rates = []
for _ in range(3):
    began = time.perf_counter()
    for text in signed:
        verifier.verify_and_decode_signed_transaction(text)
    rates.append(len(signed) / (time.perf_counter() - began))
print(f"Apple's Python library, verify and decode\t{statistics.median(rates):.0f}\ttransactions/s", flush=True)
