/// The errors of the Advanced Commerce API.
///
/// Each call answers with those that Apple lists among its response codes. The exception is ``noIncreaseInIndia``, which names its call
/// itself. Source: "Error messages and codes" and the response codes of the six calls, Advanced Commerce API, read 2026-11.
extension APIError {
    static let invalidStorefront = APIError(4_000_028, "The storefront value is invalid.")
    static let invalidCurrency = APIError(4_000_053, "The currency value is invalid.")
    static let nullRequestInfo = APIError(4_000_079, "The required field, requestInfo, is missing.")
    static let nullRequestReferenceID = APIError(4_000_080, "The required field, requestReferenceId, is missing.")
    static let invalidRequestReferenceID = APIError(4_000_081, "The requestReferenceId value is invalid.")
    static let invalidConsistencyToken = APIError(4_000_082, "The consistencyToken value is invalid.")
    static let negativePrice = APIError(4_000_086, "The price field must contain a positive number.")
    static let skuLengthExceeded = APIError(4_000_087, "Exceeds the maximum length of the SKU field.")
    static let descriptionLengthExceeded = APIError(4_000_088, "Exceeds the maximum length of the description field.")
    static let displayNameLengthExceeded = APIError(4_000_089, "Exceeds the maximum length of the displayName field.")
    static let repeatedRequestReferenceId = APIError(4_000_097, "The requestReferenceId was repeated.")
    static let nullTaxCode = APIError(4_000_099, "The required field, taxCode, is missing.")
    static let nullItems = APIError(4_000_101, "The required field, items, is missing.")
    static let nullDescriptors = APIError(4_000_103, "The required field, descriptors, is missing.")
    static let nullSKU = APIError(4_000_105, "The required field, SKU, is missing.")
    static let nullDisplayName = APIError(4_000_106, "The required field, displayName, is missing.")
    static let nullDescription = APIError(4_000_107, "The required field, description, is missing.")
    static let nullEffective = APIError(4_000_111, "The required field, effective, is missing.")
    static let invalidProductChanges = APIError(4_000_115, "Product changes are invalid.")
    static let invalidDisplayName = APIError(4_000_118, "The displayName is invalid.")
    static let invalidDescription = APIError(4_000_119, "The description is invalid.")
    static let invalidProduct = APIError(4_000_121, "The requested product to change doesn't exist.")
    static let invalidSKU = APIError(4_000_122, "The SKU was invalid.")
    static let invalidRefundType = APIError(4_000_123, "The refundType is invalid.")
    static let invalidRefundReason = APIError(4_000_124, "The refundReason is invalid.")
    static let invalidTaxCode = APIError(4_000_127, "The taxCode is invalid.")
    static let mismatchedStorefront = APIError(4_000_133, "The storefronts mismatch.")
    static let nullRefundAmount = APIError(4_000_153, "The refundAmount value is invalid.")
    static let negativeRefundAmount = APIError(4_000_154, "The refundAmount must be a positive number.")
    static let refundAmountWithoutCustom = APIError(
        4_000_155,
        "Can't provide the refund amount because the refundType isn't CUSTOM."
    )
    static let nullRefundReason = APIError(4_000_156, "The required field, refundReason, is missing.")
    static let nullRefundType = APIError(4_000_157, "The required field, refundType, is missing.")
    static let simulatedDeclineOnlyInSandbox = APIError(
        4_000_158,
        "The type SIMULATE_REFUND_DECLINE is only valid in Sandbox."
    )
    static let nullRefundRisking = APIError(4_000_159, "The required field, refundRiskingPreference, is missing.")
    static let atLeastOneItem = APIError(4_000_160, "When included, provide at least one item in items.")
    static let displayNameOrDescription = APIError(4_000_165, "Provide either the displayName or a description.")
    static let nullTargetProductID = APIError(4_000_166, "The required field, targetProductID, is missing.")
    static let invalidTargetProductID = APIError(4_000_167, "The targetProductID value is invalid.")
    static let removalOfAllItems = APIError(
        4_000_168,
        "The active subscription must contain at least one item and cannot be completely empty."
    )
    static let malformedPayload = APIError(4_000_173, "The payload is malformed.")
    static let alreadyMigrated = APIError(4_000_176, "The subscription was already migrated.")
    static let pendingChangesMismatch = APIError(
        4_000_180,
        "Pending subscription changes must specify a renewalItem, and if there are no pending changes, a renewalItem cannot be specified."
    )
    static let pendingRefund = APIError(4_000_181, "The transaction has pending refunds.")
    static let proratedOnlyLatest = APIError(
        4_000_182,
        "Only requests against the latest transaction can have a PRORATED refundType value."
    )
    static let partialSimulatedDecline = APIError(
        4_000_184,
        "If one item has a refundReason value of SIMULATE_REFUND_DECLINE, all items must have a refundReason value of SIMULATE_REFUND_DECLINE."
    )
    static let revokeOnInactive = APIError(4_000_186, "Only active subscriptions are revocable.")
    static let sharedDependents = APIError(
        4_000_192,
        "Invalid request. dependentSKUs can't be shared between multiple SKUs."
    )
    static let chainedDependents = APIError(4_000_193, "Invalid request. dependentSKUs can't be chained.")
    static let repeatedItem = APIError(4_000_194, "The same SKU can't be repeated in this request.")
    static let alreadyCommunicated = APIError(
        4_000_205,
        "A price change can't be issued when the price increase has already been communicated."
    )
    static let skuDoesNotRenew = APIError(4_000_220, "SKU values provided in request must be a SKU that will renew.")
    static let noIncreaseInIndia = APIError(4_000_221, "Price increase is not currently supported in India.")
    static let subscriptionDoesNotExist = APIError(4_030_008, "The subscription doesn't exist.")
    static let subscriptionNotEligible = APIError(
        4_030_010,
        "The subscription isn't eligible for the requested changes."
    )
    static let productNotOwned = APIError(4_030_013, "The customer doesn't own the product.")
    static let inactiveSubscription = APIError(4_030_015, "The subscription is not active.")
    static let alreadyRefunded = APIError(4_030_021, "The transaction was already refunded.")
    static let notRefundable = APIError(4_030_024, "The transaction is not refundable.")
    static let migrationDuringIncrease = APIError(
        4_030_027,
        "Migration isn't allowed because a price increase was already communicated to the customer."
    )
}
