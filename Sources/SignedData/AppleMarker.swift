/// Certificate extensions with which Apple marks the purpose of a certificate; not critical, with the value NULL.
///
/// Source: apple/app-store-server-library, signed data verification; seen in the certificates themselves.
package enum AppleMarker {
    /// In a leaf that signs App Store data.
    package static let leaf = "1.2.840.113635.100.6.11.1"
    /// In an intermediate of Apple's Worldwide Developer Relations authority.
    package static let intermediate = "1.2.840.113635.100.6.2.1"
}
