package import AppStoreModel
import Streams
package import StrictJSON

/// One of Apple's endpoints that a job can name under `action`, and everything StoreLedger knows about it.
///
/// To add an action, add one file with such a type and one line in ``AllActions/types``.
package protocol AppStoreAction: Sendable {
    // MARK: The call

    /// The name in job files, tables and limits.
    static var name: StreamName { get }

    /// Apple's limit for one app in production, in requests per second, enforced per hour.
    ///
    /// The sandbox allows a tenth. Apple can change the limit at any time, so a job can set another.
    /// Source: "Identifying rate limits", App Store Server API, read 2026-11.
    static var requestsPerSecond: Double { get }

    /// The endpoints that the action's own requests use, with their limits in production: by default one, ``name``.
    static var endpoints: [ActionEndpoint] { get }

    /// The endpoint of ``endpoints`` that the request of a row counts against.
    static func endpoint(of row: ActionParameters) -> StreamName

    /// Whether the requests go to the sandbox's host in production too; then its limits count.
    static var usesSandboxHost: Bool { get }

    /// Whether Apple offers the call in production too; see ``Streams/SandboxOnly``.
    static var isInProduction: Bool { get }

    /// The request of one row.
    ///
    /// - Parameters:
    ///   - row: The normalised values of a valid row.
    ///   - id: The UUID of the request. It is the same for every attempt of the row.
    static func request(_ row: ActionParameters, id: String) -> AppStoreRequest

    /// Reads the body of a 200 or 202 answer; by default the status is enough.
    ///
    /// - Throws: ``AppStoreModel/RequestFailure/badPage(reason:)`` if the body does not tell the outcome.
    static func outcome(_ body: [UInt8]) throws(RequestFailure) -> ActionOutcome

    /// The endpoint that says how far Apple is with a request that it accepted.
    ///
    /// `nil` if the answer to the request is the outcome.
    static var followUp: ActionFollowUp? { get }

    /// The request for the state of an accepted request.
    ///
    /// - Parameters:
    ///   - row: The normalised values.
    ///   - answer: The members that ``outcome(_:)`` kept; empty before the request was accepted.
    /// - Returns: `nil` before the request was accepted, and for an action without ``followUp``.
    static func followUpRequest(_ row: ActionParameters, answer: JSONObject) -> AppStoreRequest?

    /// Reads the body of a 200 answer to ``followUpRequest(_:answer:)``.
    ///
    /// - Returns: The members to keep; `nil` while Apple is at work.
    /// - Throws: ``AppStoreModel/RequestFailure/badPage(reason:)`` if the body does not tell the state.
    static func progress(_ body: [UInt8]) throws(RequestFailure) -> JSONObject?

    /// A sentence if the members that ``progress(_:)`` returned say that Apple refused.
    static func refusal(_ members: JSONObject) -> String?

    /// What an error code of Apple's means for a row: by default as ``errorEffects`` says.
    static func effect(of code: AppleErrorCode, on row: ActionParameters) -> ActionErrorEffect

    /// What Apple's error codes mean for a row.
    ///
    /// A code that is not listed rejects the row. The default is `ofEveryAction`.
    static var errorEffects: [AppleErrorCode: ActionErrorEffect] { get }

    /// Reads a refusal that lists its errors in place of one `errorCode`; `nil` for another body.
    static func listedErrors(_ body: [UInt8]) -> ListedErrors?

    /// Whether the success of a repeated request is the outcome, because two requests have the same effect as one.
    ///
    /// If not, Apple documents that the same request can be sent again, but not what the second answer means, so
    /// ``readBack`` must show the effect too.
    static var repeatSettles: Bool { get }

    /// Apple's data that shows whether a request with an unknown outcome was applied; `nil` if none does.
    static var readBack: ActionReadBack? { get }

    /// The data that shows the outcome of a row's request; by default ``readBack``.
    static func readBack(of row: ActionParameters) -> ActionReadBack?

    // MARK: The input

    /// The columns that the action knows, in the order of the contract.
    ///
    /// Input can have more columns, which are kept. Without columns, a batch has one row and no input.
    static var columns: [ActionColumn] { get }

    /// The values of a request as the ledger keeps them; by default ``columns``.
    static var storedColumns: [ActionColumn] { get }

    /// Whether the rows of the input with one ``subject`` make one request.
    ///
    /// Then no two requests of a subject are sent at the same time, and the ledger keeps each row of the input in `action_input_rows`.
    static var groupsRows: Bool { get }

    /// The most bytes of a row's values and of Apple's answer, as JSON.
    static var sizeLimit: Int { get }

    /// Whether a corrected request has the ID of the refused one.
    static var keepsRefusedID: Bool { get }

    /// The column that names what a row changes: a subscription, a transaction or a product.
    ///
    /// A batch has at most one row for each; `nil` if the action has no such column.
    static var subject: String? { get }

    /// What the row changes, for finding duplicates; by default the value of the column ``subject``.
    ///
    /// - Parameter row: The normalised values.
    /// - Returns: `nil` for a row that repeats no other.
    static func subject(of row: ActionParameters) -> String?

    /// Whether the input is a folder, in place of a file or a query.
    static var takesFolder: Bool { get }

    /// What ``subject`` names; `nil` without one.
    static var subjectKind: ActionSubject? { get }

    /// Members of the kept answer that result files have as columns, so that they can be the input of another action.
    static var resultColumns: [(column: String, member: String)] { get }

    /// Finds a combination of valid values that Apple refuses.
    ///
    /// - Parameter row: The normalised values.
    /// - Returns: The column and a sentence; `nil` if the row is valid.
    static func problem(of row: ActionParameters) -> (rule: String, reason: String)?

    /// The rules that the ledger checks.
    static var ledgerRules: [LedgerRule] { get }

    /// The value that a row gives away, as far as the ledger knows it; `nil` if the action gives nothing away.
    static var stake: ActionStake? { get }

    /// Whether a job can have a ``ConsumptionPolicy`` in place of an input.
    static var takesPolicy: Bool { get }

    /// Whether ``request(_:id:)`` takes the consistency token of the newest renewal info, in ``ActionParameters/consistencyToken``.
    static var sendsConsistencyToken: Bool { get }

    /// Whether Apple may ask the customer for consent; then a plan counts the rows for which it does.
    static var mayNeedConsent: Bool { get }
}

extension AppStoreAction {
    /// By what Apple's limits in production are divided.
    package static func divisor(in environment: AppStoreEnvironment) -> Double {
        environment == .production && !usesSandboxHost ? 1 : 10
    }

    package static var endpoints: [ActionEndpoint] { [.init(name: name, requestsPerSecond: requestsPerSecond)] }
    package static func endpoint(of row: ActionParameters) -> StreamName { name }
    package static var usesSandboxHost: Bool { false }
    package static func refusal(_ members: JSONObject) -> String? { nil }
    package static func effect(of code: AppleErrorCode, on row: ActionParameters) -> ActionErrorEffect {
        errorEffects[code] ?? .rejectsRow
    }
    package static var takesFolder: Bool { false }
    package static var isInProduction: Bool { true }
    package static var sizeLimit: Int { StrictJSON.sizeLimit }
    package static var keepsRefusedID: Bool { false }
    package static var resultColumns: [(column: String, member: String)] { [] }
    package static var errorEffects: [AppleErrorCode: ActionErrorEffect] { .ofEveryAction }
    package static func outcome(_ body: [UInt8]) throws(RequestFailure) -> ActionOutcome { .succeeded(JSONObject()) }
    package static var followUp: ActionFollowUp? { nil }
    package static func followUpRequest(_ row: ActionParameters, answer: JSONObject) -> AppStoreRequest? { nil }
    package static func progress(_ body: [UInt8]) throws(RequestFailure) -> JSONObject? { nil }
    package static func problem(of row: ActionParameters) -> (rule: String, reason: String)? { nil }
    package static func listedErrors(_ body: [UInt8]) -> ListedErrors? { nil }
    package static var storedColumns: [ActionColumn] { columns }
    package static var groupsRows: Bool { false }
    package static var repeatSettles: Bool { true }
    package static var readBack: ActionReadBack? { nil }
    package static func readBack(of row: ActionParameters) -> ActionReadBack? { readBack }
    package static var ledgerRules: [LedgerRule] { [] }
    package static var stake: ActionStake? { nil }
    package static var takesPolicy: Bool { false }
    package static var sendsConsistencyToken: Bool { false }
    package static var mayNeedConsent: Bool { false }

    package static func subject(of row: ActionParameters) -> String? { subject.flatMap(row.text) }
}

/// An endpoint that an action uses.
package struct ActionEndpoint: Sendable {
    package let name: StreamName
    /// The limit in production.
    package let requestsPerSecond: Double
}

/// What a 200 or 202 answer says about a row.
package enum ActionOutcome: Equatable, Sendable {
    /// Apple did what was asked. The members are kept with the row.
    case succeeded(JSONObject)
    /// Apple refused without an error code, such as 200 with `success: false`.
    case refused(message: String)
}

/// A refusal that lists several errors.
package struct ListedErrors: Equatable, Sendable {
    package enum Effect: Equatable, Sendable {
        /// Apple did nothing.
        case rejectsRow
        /// Apple has received a request with this ID before.
        case isRepeated
        /// Apple knows a part of the request. If an earlier attempt may have been applied, that was the reason.
        case mayBeRepeated
        /// The same request is sent again after a short delay.
        case retriesSoon
    }

    package let effect: Effect
    /// Apple's code of the first error; `nil` if Apple gave none.
    package let code: Int64?
    /// The first error and the number of the others.
    package let message: String
    /// The member that is kept with the row.
    package let kept: JSONObject
}

/// The endpoint that says how far Apple is with a request that it works on for longer.
package struct ActionFollowUp: Sendable {
    package let endpoint: StreamName
    /// The limit in production.
    package let requestsPerSecond: Double
    /// What the user can do when Apple does not tell the state, as a sentence without a full stop.
    package let remedy: String
}

/// What one of Apple's error codes means for a row or for the whole batch.
package enum ActionErrorEffect: Equatable, Sendable {
    /// Apple refuses this row.
    ///
    /// After an unknown outcome it proves nothing about the first request.
    case rejectsRow
    /// Apple has received a request with this ID before, so signed data must show its effect.
    case isRepeated
    /// Apple refuses what is done already, so after an unknown outcome it proves that the first request was applied.
    ///
    /// Without an earlier request it rejects the row.
    case provesEarlierRequest
    /// The same request is sent again after a short delay.
    case retriesSoon
    /// The command ends with 78: the app in the job file is not the app of the key.
    case stopsForOtherApp
}

extension [AppleErrorCode: ActionErrorEffect] {
    /// Codes that mean the same for every action.
    ///
    /// Source: "App Store Server API error codes", read 2026-11.
    package static let ofEveryAction: [AppleErrorCode: ActionErrorEffect] = [
        .invalidAppIdentifier: .stopsForOtherApp,
        .appNotFound: .stopsForOtherApp,
        .appNotFoundRetryable: .retriesSoon,
        .accountNotFoundRetryable: .retriesSoon,
        .originalTransactionIdNotFoundRetryable: .retriesSoon,
    ]
}

/// What a row of an action changes.
package enum ActionSubject: Sendable {
    /// The original transaction ID of a subscription or purchase.
    case subscription
    /// A subscription, by the ID of any of its transactions.
    ///
    /// Rows with two transactions of one subscription are duplicates.
    case subscriptionOfTransaction
    case transaction
    case product
    /// The token of a purchase outside the App Store.
    case externalPurchaseToken
    /// A seat of the subscription in `original_transaction_id`.
    case seat
}

/// The data of Apple's that shows whether a request with an unknown outcome was applied.
///
/// It is signed, except for reports, seats and retention messages.
package enum ActionReadBack: Equatable, Sendable {
    /// The `expiresDate` of the subscription's last transaction, from Get All Subscription Statuses.
    case expiresDate
    /// The `appAccountToken` of the purchase's current transaction, from Get Transaction Info.
    ///
    /// Apple does not change earlier transactions of a subscription.
    case appAccountToken
    /// The `requestReferenceId` or another effect in `advancedCommerceInfo` and renewal info, from Get All Subscription Statuses.
    case advancedCommerceSubscription(AdvancedCommerceEffect?)
    /// The `requestReferenceId` in the transaction's `advancedCommerceInfo`, from Get Transaction Info.
    case advancedCommerceTransaction
    /// The report with the ID of the request, from Retrieve External Purchase Report. It is not signed.
    case externalPurchaseReport
    /// The seat claims of the row's subscription, from Get Seat Info.
    case seatClaims
    /// Apple's list of images or of messages.
    case retentionList(RetentionList)
    /// The message of a product in a language, from Get Default Message.
    case defaultMessage(product: String, locale: String)
    /// The URL from Get Realtime URL.
    case realtimeURL

    /// The endpoint whose limit the request counts against.
    package var endpoint: StreamName {
        switch self {
        case .expiresDate, .advancedCommerceSubscription: .subscriptionStatuses
        case .appAccountToken, .advancedCommerceTransaction: .transactionInfo
        case .externalPurchaseReport: StreamName("externalPurchaseReport")
        case .seatClaims: .seats
        case .retentionList(let list): list.endpoint
        case .defaultMessage: RetentionDefault.endpoint
        case .realtimeURL: RealtimeURL.endpoint.name
        }
    }

    /// The limit in production; `nil` for an endpoint that is a stream or one of ``AppStoreAction/endpoints``.
    ///
    /// Apple documents no limit for reports.
    package var requestsPerSecond: Double? { self == .externalPurchaseReport ? 1 : nil }

    /// Whether the data is read before a request is repeated, because it shows whether the first one arrived.
    package var precedesRepeat: Bool { self == .externalPurchaseReport }

    /// The endpoints that are streams.
    package static let endpoints = [expiresDate, appAccountToken, seatClaims].map(\.endpoint)

    /// The request that reads the data of a subscription, transaction or report.
    package func request(of id: String) -> AppStoreRequest {
        switch self {
        case .externalPurchaseReport: .get("\(ReportExternalPurchases.path)/\(id.percentEncoded)")
        case .expiresDate, .advancedCommerceSubscription: .get("/inApps/v1/subscriptions/\(id.percentEncoded)")
        case .appAccountToken, .advancedCommerceTransaction: .get("/inApps/v1/transactions/\(id.percentEncoded)")
        case .seatClaims: .get(SeatPath.seats(of: id))
        case .retentionList(let list): list.request
        case .defaultMessage(let product, let locale): RetentionDefault.request(product: product, locale: locale)
        case .realtimeURL: RealtimeURL.request
        }
    }
}

/// What in signed data shows that an Advanced Commerce request was applied, in addition to its `requestReferenceId`.
///
/// A later request replaces the `requestReferenceId`, and then only the effect is left.
package enum AdvancedCommerceEffect: Equatable, Sendable {
    /// `autoRenewStatus` is 0.
    case automaticRenewalIsOff
    /// Each item has the new price, or its `priceIncreaseInfo` has.
    case pricesAreChanged
    /// The last transaction is revoked.
    case isRevoked
}

/// A rule that the ledger checks for each row; the raw value is the name in tables and messages.
package enum LedgerRule: String, CaseIterable, Sendable {
    /// The ledger has a record of the ID.
    case inLedger = "not_in_ledger"
    /// The ID identifies a subscription.
    case subscription = "not_a_subscription"
    /// The subscription's last period has not ended.
    case active = "not_active"
    /// The purchase is not revoked.
    case notRevoked = "revoked"
    /// The customer paid for the purchase; a family member or an organization did not.
    case purchased = "not_purchased"
    /// The subscription's last period is not a free offer.
    case noFreeOffer = "free_offer"
    /// Apple has asked for consumption information of the purchase less than twelve hours ago.
    case openRefundRequest = "no_open_request"
    /// Version 1 is for purchases with Advanced Commerce, and version 2 for those without.
    case consumptionVersion = "consumption_version"
    /// Apple takes no `consumption_percentage` for a subscription that renews.
    case noPercentageOfSubscription = "percentage_of_subscription"
    /// A prorated refund of anything else needs a `consumption_percentage`.
    case percentageOfProrated = "prorated_without_percentage"
    /// Apple takes version 1 for consumables and for subscriptions that renew.
    case typeOfVersionOne = "unsupported_type"
    /// Apple extends a subscription at most twice in 365 days.
    case fewerThanTwoExtensions = "two_extensions"

    // The rules of seats, in seat_facts.sql.

    /// The app invites the members of the subscription itself: `invitationManagement` is DEVELOPER.
    case developerManaged = "not_developer_managed"
    /// The ledger has the seat claim under the subscription; under another one, the rule's name is `other_subscription`.
    case knownClaim = "unknown_claim"
    /// The subscription has a free seat for the row and the rows before it.
    case freeSeat = "no_free_seat"

    // The rules of Advanced Commerce, in advanced_commerce_facts.sql.

    /// The purchase was made with Advanced Commerce.
    case advancedCommerce = "not_advanced_commerce"
    /// The subscription has not been migrated to Advanced Commerce.
    case notMigrated = "already_migrated"
    /// The ledger has the subscription's renewal info.
    case renewalInfo = "no_renewal_info"
    /// The subscription renews automatically.
    case renewsAutomatically = "auto_renew_off"
    /// The subscription is neither in billing retry nor in its grace period.
    case noBillingRetry = "billing_retry"
    /// The subscription renews in 24 hours or later.
    case renewsLater = "renews_within_24_hours"
    /// Apple has not informed the customer of a price increase.
    case noPriceIncrease = "price_increase_communicated"
    /// The items have no offer.
    case noItemInOffer = "item_in_offer"
    /// The subscription or transaction has the SKUs of the row.
    case ownSKUs = "sku_not_owned"
    /// The row has the currency of the purchase.
    case ownCurrency = "other_currency"
    /// The row has the storefront of the purchase.
    case ownStorefront = "storefront_changed"
    /// No price rises in India.
    case noIncreaseInIndia = "price_increase_in_india"
    /// A pending change of the product has renewal items, and without one there are none.
    case pendingChange = "pending_change"
    /// The items were not refunded.
    case notRefunded = "already_refunded"
    /// No refund is more than what is left of the item's price.
    case refundAmount = "refund_amount"
    /// Only the latest transaction of a subscription gets a prorated refund.
    case proratedLatest = "prorated_earlier_transaction"
    /// A refund that Apple declines for a test is for the sandbox.
    case simulatedInSandbox = "simulated_decline"
    /// No refund of the transaction is pending.
    case noPendingRefund = "pending_refund"
}

/// What a row gives away.
package enum ActionStake: String, Sendable {
    /// The part of the subscription's price for the days of an extension.
    case extendedDays = "extended_days"
    /// The price of the purchase, which can be refunded; for an Advanced Commerce transaction, the price of the items.
    case price
}
