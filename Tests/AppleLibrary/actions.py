"""Changes a simulated App Store with Apple's own client, and checks the effect with Apple's own verifier.

    actions.py DIRECTORY    the directory of a running `appstore-simulator serve`

Prints one JSON object: how many requests of each kind the store accepted. Ends with a traceback when an answer or its effect is
not the documented one.
"""

import json
import struct
import sys
import time
import uuid
import zlib

from appstoreserverlibrary.api_client import APIError, APIException, GetTransactionHistoryVersion
from appstoreserverlibrary.models.AccountTenure import AccountTenure
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.ConsumptionStatus import ConsumptionStatus
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.DeliveryStatusV1 import DeliveryStatusV1
from appstoreserverlibrary.models.DefaultConfigurationRequest import DefaultConfigurationRequest
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.ImageSize import ImageSize
from appstoreserverlibrary.models.ImageState import ImageState
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.LifetimeDollarsPurchased import LifetimeDollarsPurchased
from appstoreserverlibrary.models.LifetimeDollarsRefunded import LifetimeDollarsRefunded
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.MessageState import MessageState
from appstoreserverlibrary.models.PerformanceTestRequest import PerformanceTestRequest
from appstoreserverlibrary.models.PerformanceTestStatus import PerformanceTestStatus
from appstoreserverlibrary.models.Platform import Platform
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.PlayTime import PlayTime
from appstoreserverlibrary.models.RefundPreference import RefundPreference
from appstoreserverlibrary.models.RefundPreferenceV1 import RefundPreferenceV1
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.models.Type import Type
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UploadMessageImage import UploadMessageImage
from appstoreserverlibrary.models.UploadMessageRequestBody import UploadMessageRequestBody
from appstoreserverlibrary.models.UserStatus import UserStatus

from check import Store, error_of, expect

DAY = 86_400_000


def active(store):
    """The current transaction of every active subscription, by original transaction ID."""
    found = {}
    for customer in store.column("ids.csv"):
        for group in store.client.get_all_subscription_statuses(customer, [Status.ACTIVE]).data:
            for item in group.lastTransactions:
                transaction = store.verifier.verify_and_decode_signed_transaction(item.signedTransactionInfo)
                found[item.originalTransactionId] = transaction
    return found


def transactions(store):
    found = []
    for customer in store.column("ids.csv"):
        page = store.client.get_transaction_history(
            customer, None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2
        )
        found += store.transactions(page.signedTransactions)
    return found


def extension(identifier, days=10):
    return ExtendRenewalDateRequest(days, ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE, identifier)


def extend_one(store):
    extended = 0
    for original, transaction in active(store).items():
        identifier = str(uuid.uuid4())
        try:
            answer = store.client.extend_subscription_renewal_date(original, extension(identifier))
        except APIException as error:
            family = transaction.inAppOwnershipType == InAppOwnershipType.FAMILY_SHARED
            code = (
                APIError.FAMILY_SHARED_SUBSCRIPTION_EXTENSION_INELIGIBLE
                if family
                else APIError.SUBSCRIPTION_EXTENSION_INELIGIBLE
            )
            expect(error.api_error == code, f"{error.api_error} for {original}")
            continue
        extended += 1
        expect(answer.success and answer.originalTransactionId == original, "the answer to an extension")
        expect(answer.webOrderLineItemId == transaction.webOrderLineItemId, "its order line item")
        expect(answer.effectiveDate == transaction.expiresDate + 10 * DAY, "the effective date")
        again = store.client.extend_subscription_renewal_date(original, extension(identifier))
        expect(again == answer, "the answer to a repeated request")
        signed = store.client.get_transaction_info(transaction.transactionId).signedTransactionInfo
        now = store.verifier.verify_and_decode_signed_transaction(signed)
        expect(now.expiresDate == answer.effectiveDate, "the extended transaction")
        store.client.extend_subscription_renewal_date(original, extension(str(uuid.uuid4()), 1))
        code = error_of(store.client.extend_subscription_renewal_date, original, extension(str(uuid.uuid4())))
        expect(code == APIError.SUBSCRIPTION_MAX_EXTENSION, f"a third extension is {code}")
    for original, request, code in [
        ("1", extension("a"), APIError.ORIGINAL_TRANSACTION_ID_NOT_FOUND),
        ("x", extension("a"), APIError.INVALID_ORIGINAL_TRANSACTION_ID),
        ("1", extension("a", 91), APIError.INVALID_EXTEND_BY_DAYS),
    ]:
        found = error_of(store.client.extend_subscription_renewal_date, original, request)
        expect(found == code, f"{found}, not {code}")
    return extended


def extend_all(store, product):
    identifier = str(uuid.uuid4())
    reason = ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE
    request = MassExtendRenewalDateRequest(5, reason, identifier, productId=product)
    for _ in range(2):
        answer = store.client.extend_renewal_date_for_all_active_subscribers(request)
        expect(answer.requestIdentifier == identifier, "the request identifier")
    status = store.client.get_status_of_subscription_renewal_date_extensions(identifier, product)
    expect(not status.complete and status.succeededCount is None, "the status of a request that Apple works on")
    while not status.complete:
        status = store.client.get_status_of_subscription_renewal_date_extensions(identifier, product)
    expect(status.requestIdentifier == identifier and status.completeDate is not None, "the status of a complete request")
    request.storefrontCountryCodes = []
    code = error_of(store.client.extend_renewal_date_for_all_active_subscribers, request)
    expect(code == APIError.INVALID_EMPTY_STOREFRONT_COUNTRY_CODE_LIST, f"an empty list is {code}")
    code = error_of(store.client.get_status_of_subscription_renewal_date_extensions, str(uuid.uuid4()), product)
    expect(code == APIError.STATUS_REQUEST_NOT_FOUND, f"an unknown request is {code}")
    return status.succeededCount + status.failedCount


def send_consumption(store):
    accepted = {"v2": 0, "v1": 0}
    v2 = ConsumptionRequest(
        customerConsented=True,
        sampleContentProvided=False,
        deliveryStatus=DeliveryStatus.DELIVERED,
        refundPreference=RefundPreference.DECLINE,
    )
    v1 = ConsumptionRequestV1(
        customerConsented=True,
        consumptionStatus=ConsumptionStatus.FULLY_CONSUMED,
        platform=Platform.APPLE,
        sampleContentProvided=False,
        deliveryStatus=DeliveryStatusV1.DELIVERED_AND_WORKING_PROPERLY,
        appAccountToken="",
        accountTenure=AccountTenure.UNDECLARED,
        playTime=PlayTime.UNDECLARED,
        lifetimeDollarsRefunded=LifetimeDollarsRefunded.UNDECLARED,
        lifetimeDollarsPurchased=LifetimeDollarsPurchased.UNDECLARED,
        userStatus=UserStatus.ACTIVE,
        refundPreference=RefundPreferenceV1.UNDECLARED,
    )
    for transaction in transactions(store):
        # A purchase with Advanced Commerce is answered with version 1 only.
        code = error_of(store.client.send_consumption_information, transaction.transactionId, v2)
        if transaction.inAppOwnershipType == InAppOwnershipType.FAMILY_SHARED:
            expect(code == APIError.FAMILY_TRANSACTION_NOT_SUPPORTED_ERROR, f"a family member's transaction is {code}")
        elif transaction.advancedCommerceInfo is not None:
            expect(code == APIError.GENERAL_BAD_REQUEST, f"Advanced Commerce is {code}")
        else:
            expect(code is None, f"consumption of {transaction.transactionId} is {code}")
            accepted["v2"] += 1
        code = error_of(store.client.send_consumption_data, transaction.transactionId, v1)
        if transaction.type in (Type.CONSUMABLE, Type.AUTO_RENEWABLE_SUBSCRIPTION):
            expect(code is None, f"consumption V1 of {transaction.transactionId} is {code}")
            accepted["v1"] += 1
        else:
            expect(code == APIError.INVALID_TRANSACTION_TYPE_NOT_SUPPORTED, f"a {transaction.type} is {code}")
    v2.customerConsented = False
    code = error_of(store.client.send_consumption_information, "1", v2)
    expect(code == APIError.INVALID_CUSTOMER_CONSENTED, f"no consent is {code}")
    return accepted


def set_tokens(store):
    changed = 0
    for transaction in transactions(store):
        token = str(uuid.uuid4())
        request = UpdateAppAccountTokenRequest(appAccountToken=token)
        code = error_of(store.client.set_app_account_token, transaction.transactionId, request)
        if transaction.transactionId != transaction.originalTransactionId:
            expect(
                code == APIError.TRANSACTION_ID_IS_NOT_ORIGINAL_TRANSACTION_ID_ERROR, f"a renewal's token is {code}"
            )
        elif transaction.inAppOwnershipType == InAppOwnershipType.FAMILY_SHARED:
            expect(code == APIError.FAMILY_TRANSACTION_NOT_SUPPORTED_ERROR, f"a family member's token is {code}")
        else:
            expect(code is None, f"the token of {transaction.transactionId} is {code}")
            changed += 1
            if transaction.type != Type.AUTO_RENEWABLE_SUBSCRIPTION:
                signed = store.client.get_transaction_info(transaction.transactionId).signedTransactionInfo
                now = store.verifier.verify_and_decode_signed_transaction(signed)
                expect(now.appAccountToken == token, "the new token")
    return changed


def test_notification(store):
    token = store.client.request_test_notification().testNotificationToken
    # Apple has not sent it yet.
    while error_of(store.client.get_test_notification_status, token) == APIError.TEST_NOTIFICATION_NOT_FOUND:
        time.sleep(0.1)
    status = store.client.get_test_notification_status(token)
    notification = store.verifier.verify_and_decode_notification(status.signedPayload)
    expect(notification.rawNotificationType == "TEST" and len(status.sendAttempts) > 0, "the test notification")
    return 1


def png(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress((b"\0" + b"\x40\x80\xc0" * width) * height)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def publish_messages(store):
    client, image, message, place = store.client, uuid.uuid4(), uuid.uuid4(), ("com.example.monthly", "en-US")
    default = DefaultConfigurationRequest(messageIdentifier=message)
    picture = png(3840, 160)
    client.upload_image(image, picture, ImageSize.FULL_SIZE)
    code = error_of(client.upload_image, image, picture)
    expect(code == APIError.IMAGE_ALREADY_EXISTS, f"a second upload is {code}")
    code = error_of(client.upload_image, uuid.uuid4(), png(1024, 1024))
    expect(code == APIError.INVALID_IMAGE, f"a small image is {code}")
    body = UploadMessageRequestBody(header="Stay", body="Half the price", image=UploadMessageImage(image, "A beach"))
    client.upload_message(message, body)
    code = error_of(client.configure_default_message, *place, default)
    expect(code == APIError.MESSAGE_NOT_APPROVED, f"a message in review is {code}")
    while client.get_message_list().messageIdentifiers[0].messageState == MessageState.PENDING:
        pass
    while client.get_image_list().imageIdentifiers[0].imageState == ImageState.PENDING:
        pass
    client.configure_default_message(*place, default)
    expect(client.get_default_message(*place).messageIdentifier == message, "the default")
    code = error_of(client.delete_image, image)
    expect(code == APIError.IMAGE_IN_USE, f"an image in use is {code}")
    client.delete_default_message(*place)
    client.delete_message(message)
    client.delete_image(image)
    expect(not client.get_image_list().imageIdentifiers, "the deleted image")
    return 1


def test_performance(store):
    client, url = store.client, RealtimeUrlRequest("https://example.com/retention")
    code = error_of(client.configure_realtime_url, url)
    expect(code == APIError.FORBIDDEN_NO_PASSING_TEST, f"a URL without a test is {code}")
    original = next(iter(active(store)))
    test = client.initiate_performance_test(PerformanceTestRequest(original))
    while client.get_performance_test_results(test.requestId).result == PerformanceTestStatus.PENDING:
        pass
    client.configure_realtime_url(url)
    expect(client.get_realtime_url().realtimeURL == url.realtimeURL, "the real-time URL")
    client.delete_realtime_url()
    return 1


def act(store):
    product = next(iter(active(store).values())).productId
    return {
        # First, because it needs subscriptions that were not extended before.
        "extended": extend_one(store),
        "extendedForAll": extend_all(store, product),
        "consumption": send_consumption(store),
        "tokens": set_tokens(store),
        "testNotifications": test_notification(store),
        "messages": publish_messages(store),
        "performanceTests": test_performance(store),
    }


if __name__ == "__main__":
    print(json.dumps(act(Store(sys.argv[1]))))
