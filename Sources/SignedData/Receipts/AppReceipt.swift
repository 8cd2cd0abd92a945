import AppStoreModel

/// An app receipt (PKCS #7) whose signature is not checked: an ID of it only serves to ask Apple.
///
/// Source: Validating receipts on the device, and the receipt utilities of Apple's server libraries, read 2026-11.
struct AppReceipt {
    private(set) var bundleId: String?
    /// Such as `Production`, `ProductionSandbox` or `Xcode`; Apple does not document the attribute.
    private(set) var environment: String?
    private(set) var hasPurchases = false
    /// The first original transaction ID, or the first transaction ID if there is none; any ID of a customer finds all.
    var transactionId: TransactionID? { originalId ?? ownId }

    private var originalId: TransactionID?
    private var ownId: TransactionID?

    /// - Parameter bytes: BER or DER.
    init(_ bytes: ArraySlice<UInt8>) throws(BERReader.Malformed) {
        try Self.forEachAttribute(of: Self.payload(of: bytes)) { (type, value) throws(BERReader.Malformed) in
            switch type {
            case Self.environmentType: environment = try Self.text(value)
            case Self.bundleIdType: bundleId = try Self.text(value)
            case Self.purchaseType: try readPurchase(value)
            default: break
            }
        }
    }

    private static let environmentType = 0
    private static let bundleIdType = 2
    private static let purchaseType = 17
    private static let transactionIdType = 1_703
    private static let originalTransactionIdType = 1_705

    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    private static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]

    /// The content that is signed: a set of attributes.
    private static func payload(of bytes: ArraySlice<UInt8>) throws(BERReader.Malformed) -> ArraySlice<UInt8> {
        var receipt = BERReader(bytes)
        var outer = BERReader(try receipt.next(BERTag.sequence).content)
        guard try outer.next(BERTag.objectIdentifier).content.elementsEqual(signedData) else {
            throw BERReader.Malformed()
        }
        var explicit = try outer.nextExplicit()
        var signed = BERReader(try explicit.next(BERTag.sequence).content)
        _ = try signed.next(BERTag.integer)
        _ = try signed.next(BERTag.set)
        var inner = BERReader(try signed.next(BERTag.sequence).content)
        guard try inner.next(BERTag.objectIdentifier).content.elementsEqual(data) else { throw BERReader.Malformed() }
        var content = try inner.nextExplicit()
        return try BERReader.octets(of: content.next(BERTag.octetString))
    }

    /// Calls `body` with type and value of each attribute; types beyond 32 bits have no meaning here and are left out.
    private static func forEachAttribute(
        of bytes: ArraySlice<UInt8>,
        _ body: (_ type: Int, _ value: ArraySlice<UInt8>) throws(BERReader.Malformed) -> Void
    ) throws(BERReader.Malformed) {
        var payload = BERReader(bytes)
        var attributes = BERReader(try payload.next(BERTag.set).content)
        while let attribute = try attributes.next() {
            guard attribute.has(BERTag.sequence) else { throw BERReader.Malformed() }
            var parts = BERReader(attribute.content)
            let type = try parts.next(BERTag.integer).content
            _ = try parts.next(BERTag.integer)
            let value = try BERReader.octets(of: parts.next(BERTag.octetString))
            guard (1...4).contains(type.count) else { continue }
            try body(type.reduce(0) { $0 << 8 | Int($1) }, value)
        }
    }

    private mutating func readPurchase(_ bytes: ArraySlice<UInt8>) throws(BERReader.Malformed) {
        hasPurchases = true
        guard originalId == nil else { return }
        try Self.forEachAttribute(of: bytes) { (type, value) throws(BERReader.Malformed) in
            let isOriginal = type == Self.originalTransactionIdType
            guard isOriginal || type == Self.transactionIdType else { return }
            let id = TransactionID(try Self.text(value) ?? "")
            if isOriginal { originalId = originalId ?? id } else { ownId = ownId ?? id }
        }
    }

    /// A text of an attribute, which is an element itself; `nil` for one of another type.
    private static func text(_ bytes: ArraySlice<UInt8>) throws(BERReader.Malformed) -> String? {
        var value = BERReader(bytes)
        guard let element = try value.next(), element.has(BERTag.utf8String), !element.isConstructed else { return nil }
        return String(decoding: element.content.prefix(longestText), as: UTF8.self)
    }

    /// In bytes; a bundle ID has at most 155.
    private static let longestText = 256
}
