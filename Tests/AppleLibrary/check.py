"""Reads a simulated App Store with Apple's own client, and verifies every record with Apple's own verifier.

    check.py DIRECTORY    the directory of a running `appstore-simulator serve`

Prints one JSON object: what each endpoint answered, by customer or order. Ends with a traceback when a call fails, when a record
does not verify, or when two answers contradict each other.
"""

import csv
import json
import re
import sys
from pathlib import Path

from appstoreserverlibrary.api_client import (
    APIError,
    APIException,
    AppStoreServerAPIClient,
    GetTransactionHistoryVersion,
)
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.RefundHistoryResponse import RefundHistoryResponse
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.StatusResponse import StatusResponse
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier


class Store:
    """A client and a verifier for one simulated app."""

    def __init__(self, directory):
        self.directory = Path(directory)
        job = (self.directory / "job.yaml").read_text()

        def value(key):
            return re.search(rf"^ *{key}: *(\S+)$", job, re.MULTILINE)[1]

        self.bundle_id = value("bundleId")
        environment = Environment(value("environment"))
        self.client = AppStoreServerAPIClient(
            (self.directory / value("privateKeyFile")).read_bytes(),
            value("keyId"),
            value("issuerId"),
            self.bundle_id,
            environment,
        )
        # The library has one host for each environment.
        self.client._base_url = json.loads((self.directory / "ready.json").read_text())["baseURL"]
        self.verifier = SignedDataVerifier(
            [(self.directory / "root.cer").read_bytes()], False, environment, self.bundle_id, int(value("appAppleId"))
        )

    def column(self, name):
        with open(self.directory / name, newline="") as file:
            return [row[0] for row in csv.reader(file)][1:]

    def transactions(self, signed):
        return [self.verifier.verify_and_decode_signed_transaction(jws) for jws in signed or []]


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def error_of(call, *arguments):
    """The code of the error that Apple's client raises."""
    try:
        call(*arguments)
    except APIException as error:
        return error.api_error
    return None


def statuses(store, customer, only=None):
    response = store.client.get_all_subscription_statuses(customer, only)
    expect(response.bundleId == store.bundle_id, "bundleId of the statuses")
    found = {}
    for group in response.data:
        for item in group.lastTransactions:
            transaction = store.verifier.verify_and_decode_signed_transaction(item.signedTransactionInfo)
            renewal = store.verifier.verify_and_decode_renewal_info(item.signedRenewalInfo)
            expect(isinstance(item.status, Status), f"status {item.rawStatus}")
            expect(transaction.originalTransactionId == item.originalTransactionId, "the transaction's original ID")
            expect(renewal.originalTransactionId == item.originalTransactionId, "the renewal info's original ID")
            expect(transaction.subscriptionGroupIdentifier == group.subscriptionGroupIdentifier, "the group")
            found[item.originalTransactionId] = int(item.status)
    return found


def history(store, customer, version, **filters):
    """The IDs on all pages, in their order."""
    found, revision = [], None
    while True:
        page = store.client.get_transaction_history(customer, revision, TransactionHistoryRequest(**filters), version)
        found += [transaction.transactionId for transaction in store.transactions(page.signedTransactions)]
        revision = page.revision
        if not page.hasMore:
            return found


def check(store):
    result = {
        "statuses": {},
        "appTransactions": {},
        "orders": {},
        "historyV1": {},
        "refundsV1": {},
    }
    for customer in store.column("ids.csv"):
        found = statuses(store, customer)
        result["statuses"].update(found)
        filtered = statuses(store, customer, [Status.ACTIVE, Status.BILLING_RETRY])
        expect(filtered == {key: value for key, value in found.items() if value in (1, 3)}, "the filtered statuses")

        result["historyV1"][customer] = history(store, customer, GetTransactionHistoryVersion.V1)
        kept = history(store, customer, GetTransactionHistoryVersion.V1, revoked=False)
        expect(set(kept) <= set(result["historyV1"][customer]), "the transactions that are not revoked")

        # The library has no function for the deprecated refund history.
        path = f"/inApps/v1/refund/lookup/{customer}"
        refunds = store.client._make_request(path, "GET", {}, None, RefundHistoryResponse)
        result["refundsV1"][customer] = [
            transaction.transactionId for transaction in store.transactions(refunds.signedTransactions)
        ]
        if not result["historyV1"][customer] and not history(store, customer, GetTransactionHistoryVersion.V2):
            expect(
                error_of(store.client.get_app_transaction_info, customer)
                == APIError.APP_TRANSACTION_DOES_NOT_EXIST_ERROR,
                "a customer without purchases has no app transaction",
            )
            continue
        signed = store.client.get_app_transaction_info(customer).signedAppTransactionInfo
        app_transaction = store.verifier.verify_and_decode_app_transaction(signed)
        result["appTransactions"][customer] = app_transaction.appTransactionId
        # It stands for the customer.
        expect(statuses(store, app_transaction.appTransactionId) == found, "the statuses by app transaction ID")

    for order in store.column("orders.csv"):
        response = store.client.look_up_order_id(order)
        expect(response.status == 0, f"status {response.rawStatus} of order {order}")
        found = store.transactions(response.signedTransactions)
        result["orders"][order] = [transaction.transactionId for transaction in found]
    unknown = store.client.look_up_order_id("MABCDE2345")
    expect(unknown.status == 1 and unknown.signedTransactions is None, "an unknown order")

    app_transaction_id = next(iter(result["appTransactions"].values()))
    for call, argument, code in [
        (store.client.get_all_subscription_statuses, "1", APIError.TRANSACTION_ID_NOT_FOUND),
        (store.client.get_all_subscription_statuses, "x", APIError.INVALID_TRANSACTION_ID),
        (store.client.get_app_transaction_info, "1", APIError.TRANSACTION_ID_NOT_FOUND),
        (store.client.get_transaction_info, app_transaction_id, APIError.APP_TRANSACTION_ID_NOT_SUPPORTED_ERROR),
        (store.client.look_up_order_id, "M ABCDE", APIError.GENERAL_BAD_REQUEST),
    ]:
        expect(error_of(call, argument) == code, f"{call.__name__}({argument}) is {error_of(call, argument)}, not {code}")
    path = f"/inApps/v1/subscriptions/{app_transaction_id}"
    code = error_of(store.client._make_request, path, "GET", {"status": ["6"]}, None, StatusResponse)
    expect(code == APIError.INVALID_STATUS, f"status 6 is {code}")
    return result


if __name__ == "__main__":
    print(json.dumps(check(Store(sys.argv[1]))))
