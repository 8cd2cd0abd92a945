/// What the name of a key file says of the key in it.
///
/// App Store Connect calls the file of an In-App Purchase key `SubscriptionKey_<key ID>.p8`, and the file of a key of
/// the App Store Connect API `AuthKey_<key ID>.p8`. The App Store Server API accepts only In-App Purchase keys.
package struct KeyFileName: Equatable, Sendable {
    let name: String
    /// Whether the name is the name of a key file of the App Store Connect API.
    let isOfOtherAPI: Bool
    /// `nil` if the name has none.
    let keyId: String?

    package init(_ path: String) {
        name = path.split(separator: "/").last.map(String.init) ?? path
        let stem = name.hasSuffix(".p8") ? name.dropLast(3) : name[...]
        let parts = stem.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
        isOfOtherAPI = parts.first == "AuthKey"
        let isNamedByApple = parts.count == 2 && (isOfOtherAPI || parts[0] == "SubscriptionKey")
        // A browser appends " (1)" to the name of a second download.
        let id = parts.last?.prefix { $0.isASCII && ($0.isLetter || $0.isNumber) } ?? ""
        keyId = isNamedByApple && !id.isEmpty ? String(id) : nil
    }

    /// What is wrong with the name; `nil` if nothing is.
    package func warning(keyId own: String) -> String? {
        if isOfOtherAPI {
            return """
                \(name) is the name of a key of the App Store Connect API, which the App Store Server API refuses. Create a key in \
                App Store Connect > Users and Access > Integrations > In-App Purchase; its file is SubscriptionKey_<key ID>.p8
                """
        }
        guard let keyId, keyId != own else { return nil }
        return "the name \(name) has the key ID \(keyId), but appStore.keyId is \(own): they belong to different keys"
    }
}
