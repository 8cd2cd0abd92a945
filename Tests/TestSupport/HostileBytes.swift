import Hashing

/// One element of DER, for certificates that no tool creates.
package func der(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
    let content = parts.flatMap { $0 }
    return switch content.count {
    case ..<0x80: [tag, UInt8(content.count)] + content
    case ..<0x100: [tag, 0x81, UInt8(content.count)] + content
    default: [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }
}

/// A certificate whose key puts old parsers into an endless loop (CVE-2022-0778).
///
/// Its curve has explicit parameters over the composite "prime" 697 with a compressed generator.
package let loopingCertificate: [UInt8] = {
    let field = der(0x30, der(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x01, 0x01]), der(0x02, [0x02, 0xB9]))
    let curve = der(0x30, der(0x04, [0x17]), der(0x04, [0x02]))
    let parameters = der(0x30, der(0x02, [0x01]), field, curve, der(0x04, [0x03, 0x08]), der(0x02, [0x09]))
    let algorithm = der(0x30, der(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]), parameters)
    let keyInfo = der(0x30, algorithm, der(0x03, [0x00, 0x03, 0x0B]))
    let signatureAlgorithm = der(0x30, der(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x03]))
    let validity = der(0x30, der(0x17, Array("250101000000Z".utf8)), der(0x17, Array("270101000000Z".utf8)))
    let fields = der(
        0x30,
        der(0xA0, der(0x02, [0x02])),
        der(0x02, [0x01]),
        signatureAlgorithm,
        der(0x30),
        validity,
        der(0x30),
        keyInfo
    )
    return der(0x30, fields, signatureAlgorithm, der(0x03, [0x00, 0x30, 0x00]))
}()

/// HMAC-SHA-256 (RFC 2104).
package func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    let short = key.count > 64 ? SHA256.digest(of: key) : key
    let block = short + [UInt8](repeating: 0, count: 64 - short.count)
    return SHA256.digest(of: block.map { $0 ^ 0x5C } + SHA256.digest(of: block.map { $0 ^ 0x36 } + message))
}

/// The order of P-256 (FIPS 186-4, D.1.2.3).
package let orderOfP256: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
]

/// ``orderOfP256`` minus `number`, both of 32 bytes: it gives the s of the second valid signature.
package func orderOfP256(minus number: some Collection<UInt8>) -> [UInt8] {
    let number = Array(number)
    var result = orderOfP256
    var borrow = 0
    for index in (0..<32).reversed() {
        let difference = Int(orderOfP256[index]) - Int(number[index]) - borrow
        result[index] = UInt8(truncatingIfNeeded: difference)
        borrow = difference < 0 ? 1 : 0
    }
    return result
}
