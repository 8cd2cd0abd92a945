import COpenSSL
import Hashing

/// One block of a PEM text (RFC 7468).
struct PEMBlock {
    let label: String
    var content: [UInt8]

    /// Splits a text of PEM blocks; `nil` when it contains other text.
    ///
    /// Lines end in LF or CRLF. Empty lines after the last block are allowed, because editors add them.
    static func parse(_ text: [UInt8]) -> [PEMBlock]? {
        var blocks: [PEMBlock] = []
        var label: String?
        var body: [UInt8] = []
        defer { body.cleanse() }
        var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        func content(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        }
        while let last = lines.last, content(last).isEmpty { lines.removeLast() }
        for line in lines.lazy.map(content) {
            if let current = label {
                if line.elementsEqual("-----END \(current)-----".utf8) {
                    guard let content = Base64.decodeStandard(body.span), !content.isEmpty else { return nil }
                    blocks.append(PEMBlock(label: current, content: content))
                    label = nil
                    body.cleanse()
                    body = []
                } else {
                    body.append(contentsOf: line)
                }
            } else {
                guard let opened = labelOpened(by: line) else { return nil }
                label = opened
                body.reserveCapacity(text.count)
            }
        }
        return label == nil ? blocks : nil
    }

    /// The block's text, ending in a line feed.
    static func text(label: String, content: [UInt8]) -> String {
        var text = "-----BEGIN \(label)-----\n"
        var rest = Base64.encodeStandard(content)[...]
        while !rest.isEmpty {
            text += String(decoding: rest.prefix(64), as: UTF8.self) + "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END \(label)-----\n"
    }

    private static func labelOpened(by line: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: line, as: UTF8.self)
        guard text.hasPrefix("-----BEGIN "), text.hasSuffix("-----"), text.utf8.count > 16 else { return nil }
        return String(text.dropFirst(11).dropLast(5))
    }
}

extension [UInt8] {
    /// Overwrites the bytes with zeros; the compiler cannot optimize this away.
    mutating func cleanse() {
        unsafe withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
    }
}
