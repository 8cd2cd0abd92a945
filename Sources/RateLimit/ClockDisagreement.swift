/// The ledger's clock was set, or it disagrees with Apple's clock.
package struct ClockDisagreement: Error, Equatable, Sendable {
    /// The observation, without the remedy and without a full stop.
    package let sentence: String
}
