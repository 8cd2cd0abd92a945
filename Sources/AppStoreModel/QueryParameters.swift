/// Names and values of a URL's query, in the order in which they are sent; a parameter without a value is omitted.
package typealias QueryParameters = [(name: String, value: String?)]

extension QueryParameters {
    /// Empty, or `?` and the parameters.
    var queryString: String {
        let pairs = compactMap { name, value in value.map { "\(name.percentEncoded)=\($0.percentEncoded)" } }
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }
}

extension String {
    /// Every byte outside RFC 3986's unreserved set as `%XX`.
    ///
    /// This encodes more than a URL requires, so that `+ / = &` in a cursor are decoded correctly by every server.
    package var percentEncoded: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        for byte in utf8 {
            if byte.isUnreserved {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), Self.hexadecimal[Int(byte >> 4)], Self.hexadecimal[Int(byte & 0xF)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let hexadecimal = Array("0123456789ABCDEF".utf8)
}

extension UInt8 {
    /// RFC 3986, 2.3.
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
