import HTTPTypes

/// A documented error: HTTP status, Apple's error code and message.
///
/// Source: "Error codes", App Store Server API, read 2026-11.
struct APIError: Error, Equatable, Sendable {
    let status: Int
    let code: Int64
    let message: String
    /// The body of an answer that lists several errors; `nil` for one error.
    private let list: [UInt8]?

    init(_ code: Int64, _ message: String) {
        status = Int(code / 10_000)
        self.code = code
        self.message = message
        list = nil
    }

    /// A 400 with a list of errors; see ``report(_:)``.
    init(errors list: [UInt8]) {
        status = 400
        code = 0
        message = ""
        self.list = list
    }

    var json: [UInt8] {
        list
            ?? jsonObject {
                $0.member("errorCode", code)
                $0.member("errorMessage", message)
            }
    }

    static let badRequest = APIError(4_000_000, "Bad request.")
    static let revision = APIError(4_000_005, "Invalid request revision.")
    static let transactionId = APIError(4_000_006, "Invalid transaction id.")
    static let originalTransactionId = APIError(4_000_008, "Invalid original transaction id.")
    static let extendByDays = APIError(4_000_009, "Invalid extend by days value.")
    static let extendReasonCode = APIError(4_000_010, "Invalid extend reason code.")
    static let requestIdentifier = APIError(4_000_011, "Invalid request identifier.")
    static let startDateTooFarInPast = APIError(4_000_012, "The start date is earlier than the allowed start date.")
    static let startDateAfterEndDate = APIError(4_000_013, "The start date must precede the end date.")
    static let paginationToken = APIError(4_000_014, "Invalid pagination token.")
    static let startDate = APIError(4_000_015, "Invalid start date.")
    static let endDate = APIError(4_000_016, "Invalid end date.")
    static let paginationTokenExpired = APIError(4_000_017, "The pagination token expired.")
    static let notificationType = APIError(4_000_018, "Invalid notification type or subtype.")
    static let multipleFilters = APIError(4_000_019, "Supply either a transaction id or a notification type.")
    static let testNotificationToken = APIError(4_000_020, "Invalid test notification token.")
    static let sort = APIError(4_000_021, "Invalid sort.")
    static let productType = APIError(4_000_022, "Invalid product type.")
    static let productId = APIError(4_000_023, "Invalid product id.")
    static let subscriptionGroup = APIError(4_000_024, "Invalid subscription group identifier.")
    static let excludeRevoked = APIError(4_000_025, "Invalid excludeRevoked value.")
    static let ownershipType = APIError(4_000_026, "Invalid in-app ownership type.")
    static let emptyStorefrontCountryCodes = APIError(4_000_027, "The list of storefront country codes is empty.")
    static let storefrontCountryCode = APIError(4_000_028, "Invalid storefront country code.")
    static let revoked = APIError(4_000_030, "Invalid revoked value.")
    static let status = APIError(4_000_031, "Invalid status.")
    static let accountTenure = APIError(4_000_032, "Invalid account tenure.")
    static let appAccountToken = APIError(4_000_033, "Invalid app account token.")
    static let consumptionStatus = APIError(4_000_034, "Invalid consumption status.")
    static let customerConsented = APIError(4_000_035, "The customer must have consented.")
    static let deliveryStatus = APIError(4_000_036, "Invalid delivery status.")
    static let lifetimeDollarsPurchased = APIError(4_000_037, "Invalid lifetime dollars purchased.")
    static let lifetimeDollarsRefunded = APIError(4_000_038, "Invalid lifetime dollars refunded.")
    static let platform = APIError(4_000_039, "Invalid platform.")
    static let playTime = APIError(4_000_040, "Invalid play time.")
    static let sampleContentProvided = APIError(4_000_041, "Invalid sample content provided value.")
    static let userStatus = APIError(4_000_042, "Invalid user status.")
    static let refundPreference = APIError(4_000_044, "Invalid refund preference.")
    static let transactionTypeNotSupported = APIError(4_000_047, "The transaction's type is not supported.")
    static let appTransactionIdNotSupported = APIError(4_000_048, "App transaction id is not supported.")
    static let appAccountTokenUUID = APIError(4_000_183, "The app account token must be a UUID.")
    static let familyTransactionNotSupported = APIError(4_000_185, "Transactions of family members are not supported.")
    static let notOriginalTransactionId = APIError(4_000_187, "The transaction id is not an original transaction id.")
    static let consumptionPercentageOfSubscription = APIError(
        4_000_209,
        "A consumption percentage is not allowed for an auto-renewable subscription."
    )
    // Apple documents the next three without their numbers.
    static let consumptionPercentage = APIError(4_000_000, "The consumption percentage is out of range.")
    static let undeliveredConsumptionPercentage = APIError(
        4_000_000,
        "The consumption percentage must be 0 for an undelivered product."
    )
    static let advancedCommerceNotSupported = APIError(4_000_000, "Advanced Commerce transactions are not supported.")
    static let extensionIneligible = APIError(4_030_004, "The subscription is not eligible for an extension.")
    static let maximumExtensions = APIError(4_030_005, "The subscription has had two extensions within 365 days.")
    static let familySharedExtension = APIError(4_030_007, "A family member's subscription cannot be extended.")
    static let originalTransactionNotFound = APIError(4_040_005, "Original transaction id not found.")
    static let testNotificationNotFound = APIError(4_040_008, "Test notification not found.")
    static let statusRequestNotFound = APIError(4_040_009, "No request to extend renewal dates found.")
    static let transactionNotFound = APIError(4_040_010, "Transaction id not found.")
    static let appTransactionDoesNotExist = APIError(4_040_019, "No app transaction exists for the customer.")
    static let rateLimited = APIError(4_290_000, "Rate limit exceeded.")
    static let internalError = APIError(5_000_000, "An unknown error occurred.")
}
