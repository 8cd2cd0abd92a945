import AppStoreModel
import Testing

struct AppleErrorCodeTests {
    /// Codes that Apple has added since version 1.19 of the API, or that its libraries lack.
    @Test(arguments: [
        (4_000_044, AppleErrorCode.invalidRefundPreference, 400),
        (4_000_209, .consumptionPercentageAutoRenewableSubscription, 400), (4_000_225, .invalidGroupId, 400),
        (4_000_227, .invalidAssignedTransactionNotSupported, 400),
        (4_030_028, .assignedSubscriptionExtensionIneligible, 403), (4_040_022, .groupNotFound, 404),
    ])
    func `a newer error code has Apple's name, and the status it is sent with`(
        number: Int64,
        code: AppleErrorCode,
        status: Int
    ) {
        #expect(AppleErrorCode(rawValue: number) == code)
        #expect(code.status == status)
    }

    @Test func `an unknown code of Apple has no name in the list`() {
        #expect(AppleErrorCode(rawValue: 4_000_999) == nil)
    }
}
