extension CompactJWS {
    /// The text of a JWS from its parts; strict base64url has one spelling, so this is what Apple sent.
    ///
    /// - Parameters:
    ///   - header: The first segment's text.
    ///   - payload: The second segment, decoded.
    ///   - signature: The third segment, decoded.
    /// - Returns: Three segments and two dots.
    package static func text(header: [UInt8], payload: [UInt8], signature: [UInt8]) -> String {
        let dot = [UInt8(ascii: ".")]
        let text = header + dot + Base64.encodeURL(payload) + dot + Base64.encodeURL(signature)
        return String(decoding: text, as: UTF8.self)
    }
}
