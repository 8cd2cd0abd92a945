"""Verifies signatures of `storeledger sign`, and compares each with what Apple's own library signs for the same request.

    sign.py DIRECTORY KEY_ID ISSUER_ID BUNDLE_ID

DIRECTORY has the key as SubscriptionKey.p8, and an output file for each kind, called after the kind. Prints one JSON object: the number of
signatures of each kind. Ends with a traceback when a signature does not verify, or when Apple's library signs something else.
"""

import base64
import csv
import json
import sys
import uuid
from pathlib import Path

import jwt
from appstoreserverlibrary.jws_signature_creator import (
    AdvancedCommerceAPIInAppSignatureCreator,
    IntroductoryOfferEligibilitySignatureCreator,
    PromotionalOfferV2SignatureCreator,
)
from appstoreserverlibrary.models import (
    AdvancedCommerceOneTimeChargeCreateRequest as one_time,
    AdvancedCommerceSubscriptionCreateRequest as create,
    AdvancedCommerceSubscriptionModifyInAppRequest as modify,
    AdvancedCommerceSubscriptionReactivateInAppRequest as reactivate,
)
from appstoreserverlibrary.models.LibraryUtility import _get_cattrs_converter
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

MODELS = {
    "CREATE_ONE_TIME_CHARGE": one_time.AdvancedCommerceOneTimeChargeCreateRequest,
    "CREATE_SUBSCRIPTION": create.AdvancedCommerceSubscriptionCreateRequest,
    "MODIFY_SUBSCRIPTION": modify.AdvancedCommerceSubscriptionModifyInAppRequest,
    "REACTIVATE_SUBSCRIPTION": reactivate.AdvancedCommerceSubscriptionReactivateInAppRequest,
}


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


class Signatures:
    def __init__(self, directory, key_id, issuer_id, bundle_id):
        self.directory = Path(directory)
        pem = (self.directory / "SubscriptionKey.p8").read_bytes()
        self.public_key = load_pem_private_key(pem, password=None).public_key()
        names = (pem, key_id, issuer_id, bundle_id)
        self.offers = PromotionalOfferV2SignatureCreator(*names)
        self.eligibility = IntroductoryOfferEligibilitySignatureCreator(*names)
        self.requests = AdvancedCommerceAPIInAppSignatureCreator(*names)
        self.older = PromotionalOfferSignatureCreator(pem, key_id, bundle_id)
        self.nonces = set()

    def rows(self, name):
        with open(self.directory / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def compare(self, signature, apples, audience):
        """Both must verify, and have the same header and claims."""
        ours, theirs = (
            jwt.decode(text, self.public_key, algorithms=["ES256"], audience=audience) for text in (signature, apples)
        )
        expect(jwt.get_unverified_header(signature) == jwt.get_unverified_header(apples), "the header")
        expect(str(uuid.UUID(ours["nonce"])) == ours["nonce"] and ours["nonce"] not in self.nonces, "the nonce")
        self.nonces.add(ours["nonce"])
        expect(abs(ours["iat"] - theirs["iat"]) < 3600, "iat")
        return tuple({key: value for key, value in claims.items() if key not in ("nonce", "iat")} for claims in (ours, theirs))

    def promotional_offer(self, row):
        apples = self.offers.create_signature(row["product_id"], row["offer_identifier"], row["transaction_id"] or None)
        ours, theirs = self.compare(row["signature"], apples, "promotional-offer")
        expect(ours == theirs, f"{ours} is not {theirs}")

    def introductory_offer_eligibility(self, row):
        apples = self.eligibility.create_signature(
            row["product_id"], row["allow_introductory_offer"] == "true", row["transaction_id"]
        )
        ours, theirs = self.compare(row["signature"], apples, "introductory-offer-eligibility")
        expect(ours == theirs, f"{ours} is not {theirs}")

    def promotional_offer_signature(self, row):
        class Recorder:
            def sign(self, message, algorithm):
                self.message = message
                return b""

        recorder = Recorder()
        self.older._signing_key = recorder
        self.older.create_signature(
            row["product_id"],
            row["offer_identifier"],
            row["application_username"],
            uuid.UUID(row["nonce"]),
            int(row["timestamp"]),
        )
        # Raises an exception if it does not verify.
        self.public_key.verify(base64.b64decode(row["signature"], validate=True), recorder.message, ECDSA(SHA256()))
        expect(row["key_identifier"] == self.older._key_id, "the key identifier")

    def advanced_commerce(self, line):
        row = json.loads(line)
        signature = row.pop("signature")
        model = MODELS[row["operation"]]
        # Apple's model checks lengths and required members.
        request = _get_cattrs_converter(model).structure(row, model)
        ours, theirs = self.compare(signature, self.requests.create_signature(request), "advanced-commerce-api")
        request, apples = (json.loads(base64.b64decode(claims.pop("request"), validate=True)) for claims in (ours, theirs))
        expect(ours == theirs, f"{ours} is not {theirs}")
        expect(request == row, f"{request} is not {row}")
        expect(without_null(apples) == row, f"{row} is not {without_null(apples)}")


def without_null(value):
    if isinstance(value, dict):
        return {key: without_null(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [without_null(element) for element in value]
    return value


def verify(*arguments):
    signatures = Signatures(*arguments)
    counts = {}
    for kind in ("promotional-offer", "introductory-offer-eligibility", "promotional-offer-signature"):
        rows = signatures.rows(kind + ".csv")
        for row in rows:
            getattr(signatures, kind.replace("-", "_"))(row)
        counts[kind] = len(rows)
    lines = (signatures.directory / "advanced-commerce.jsonl").read_text(encoding="utf-8").splitlines()
    for line in lines:
        signatures.advanced_commerce(line)
    counts["advanced-commerce"] = len(lines)
    return counts


if __name__ == "__main__":
    print(json.dumps(verify(*sys.argv[1:])))
