/// Certificate extensions, non-critical and NULL, by which Apple marks what a certificate is for.
///
/// Source: apple/app-store-server-library, signed data verification; seen in the certificates themselves.
package enum AppleMarker {
    /// On a leaf: signs App Store data.
    package static let leaf = "1.2.840.113635.100.6.11.1"
    /// On an intermediate: Worldwide Developer Relations authority.
    package static let intermediate = "1.2.840.113635.100.6.2.1"
}
