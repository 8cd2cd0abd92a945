import FoundationEssentials
package import Testing

extension Trait where Self == ConditionTrait {
    /// A test that takes many seconds; `scripts/test --fast` leaves it out.
    package static var slow: Self {
        .enabled("slow; scripts/test without --fast runs it") {
            ProcessInfo.processInfo.environment["STORELEDGER_TEST_FAST"] == nil
        }
    }
}
