import AppStoreModel
import Hashing
import Testing

@testable import SignedData

/// Which ID a receipt gives, and why another one gives none.
struct ReceiptTests {
    private static let bundleId = "com.example.game"
    private static let authority = Result { try SignedWorld().authority }

    private static func receipt(
        _ purchases: [AppReceiptBuilder.Purchase],
        of bundleId: String = bundleId,
        in environment: String = "Production",
        padding: Int = 0
    ) -> AppReceiptBuilder {
        AppReceiptBuilder(bundleId: bundleId, environment: environment, purchases: purchases, padding: padding)
    }

    private static func der(_ receipt: AppReceiptBuilder) throws -> [UInt8] {
        try receipt.der(signedBy: authority.get())
    }

    private static let two = [
        AppReceiptBuilder.Purchase("430000000000037", original: nil),
        AppReceiptBuilder.Purchase("430000000000074", original: "430000000000000"),
    ]

    private static func old(_ id: String?, of bundleId: String = bundleId) -> [UInt8] {
        AppReceiptBuilder.oldReceipt(bundleId: bundleId, transactionId: id, encode: Base64.encodeStandard)
    }

    private static func signed(_ payload: String) throws -> [UInt8] {
        try Array(authority.get().issuer.sign(payload: Array(payload.utf8)).utf8)
    }

    /// The ID of a text, or the name of the defect.
    private func found(_ text: [UInt8]) -> String {
        do throws(ReceiptDefect) {
            return try ReceiptText.transactionId(in: text[...], of: Self.bundleId).text
        } catch {
            return error.rawValue
        }
    }

    @Test func `an app receipt gives its first original transaction ID, or else its first transaction ID`() throws {
        #expect(found(Base64.encodeStandard(try Self.der(Self.receipt(Self.two)))) == "430000000000000")
        let one = Self.receipt([Self.two[0]])
        #expect(found(Base64.encodeStandard(try Self.der(one))) == "430000000000037")
        let ber = try one.ber(signedBy: Self.authority.get())
        #expect(ber.starts(with: [0x30, 0x80]) && found(Base64.encodeStandard(ber)) == "430000000000037")
    }

    @Test(arguments: [0, 100, 1_000, 200_000])
    func `a receipt whose content is in parts gives the same ID as one in DER`(padding: Int) throws {
        let receipt = Self.receipt(Self.two, padding: padding)
        let texts = [try Self.der(receipt), try receipt.ber(signedBy: Self.authority.get())]
        #expect(texts.map { found(Base64.encodeStandard($0)) } == ["430000000000000", "430000000000000"])
    }

    @Test func `a receipt is read in base64 and base64url, in lines, without padding, and in base64 twice`() throws {
        for bytes in [try Self.der(Self.receipt(Self.two)), Self.old("430000000000000")] {
            let text = Base64.encodeStandard(bytes)
            let lines = stride(from: 0, to: text.count, by: 64).flatMap { start in
                text[start..<min(start + 64, text.count)] + [0x0D, 0x0A]
            }
            let unpadded = [0x20] + text.filter { $0 != UInt8(ascii: "=") }
            for form in [lines, unpadded, Base64.encodeURL(bytes), Base64.encodeStandard(text)] {
                #expect(found(form) == "430000000000000")
            }
        }
    }

    @Test func `an old transaction receipt is read with and without white space`() throws {
        let info = Base64.encodeStandard(Array(#"{"transaction-id"="33993399";}"#.utf8))
        let text = "{\"purchase-info\"=\"\(String(decoding: info, as: UTF8.self))\";}"
        #expect(found(Base64.encodeStandard(Array(text.utf8))) == "33993399")
        #expect(found(Base64.encodeStandard(Self.old("430000000000000"))) == "430000000000000")
    }

    @Test func `a signed transaction gives its ID`() throws {
        let payload = #"{"bundleId":"com.example.game","originalTransactionId":"1","transactionId":"2"}"#
        #expect(found(try Self.signed(payload)) == "2")
        #expect(found(try Self.signed(payload.replacing(#","transactionId":"2""#, with: ""))) == "1")
    }

    @Test func `C25 C26 C27 C28 C29 each receipt without an ID has its reason`() throws {
        let elsewhere = "com.example.other"
        let receipts: [(String, [UInt8])] = [
            ("missing", []), ("missing", Array(" \r\n".utf8)),
            ("withoutPurchases", Base64.encodeStandard(try Self.der(Self.receipt([])))),
            ("ofAnotherApp", Base64.encodeStandard(try Self.der(Self.receipt(Self.two, of: elsewhere)))),
            ("ofAnotherApp", Base64.encodeStandard(Self.old("1", of: elsewhere))),
            ("ofAnotherApp", try Self.signed(#"{"bundleId":"com.example.other","transactionId":"2"}"#)),
            (
                "fromXcode",
                Base64.encodeStandard(
                    try Self.receipt([.init("0", original: "0")], in: "Xcode").ber(signedBy: Self.authority.get())
                )
            ),
            ("fromXcode", try Self.signed(#"{"environment":"Xcode","transactionId":"0"}"#)),
            ("withoutID", Base64.encodeStandard(Self.old(nil))),
            ("withoutID", try Self.signed(#"{"bundleId":"com.example.game"}"#)),
            ("withoutID", Base64.encodeStandard(try Self.der(Self.receipt([.init("x", original: nil)])))),
        ]
        for (reason, text) in receipts { #expect(found(text) == reason) }
    }

    @Test func `C25 a receipt that is cut off anywhere, or is none, is damaged`() throws {
        let bytes = try Self.der(Self.receipt([]))
        for count in 0..<bytes.count where count > 0 {
            #expect(found(Base64.encodeStandard(Array(bytes[..<count]))) == "damaged", "\(count) bytes")
        }
        let endless = [UInt8](repeating: 0, count: 2_000).enumerated().map { $0.offset % 2 == 0 ? 0x30 : 0x80 as UInt8 }
        let texts = [
            "430000000000000", "MI", "null", "eyJ.eyJ.x", "é", "{}", "eyJhIjoxfQ.eyJhIjox.x",
            String(decoding: Base64.encodeStandard(endless), as: UTF8.self),
            String(decoding: Base64.encodeStandard([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0]), as: UTF8.self),
            String(decoding: Base64.encodeStandard(Array("{ \"purchase-info\" = \"%\"; }".utf8)), as: UTF8.self),
        ]
        for text in texts { #expect(found(Array(text.utf8)) == "damaged", "\(text.prefix(40))") }
    }
}
