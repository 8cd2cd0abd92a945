/// The object that Send External Purchase Report takes and Retrieve External Purchase Report answers.
package enum ExternalPurchaseReport {
    /// The most bytes of its JSON, and of Apple's answer to it.
    ///
    /// Apple documents none. A line has about 600 bytes.
    package static let sizeLimit = 64 * 1_024 * 1_024
}
