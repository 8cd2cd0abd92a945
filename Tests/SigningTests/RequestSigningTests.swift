import AppStoreModel
import Basics
import CSVFormat
import FoundationEssentials
import Hashing
import SignedData
import StrictJSON
import TestSupport
import Testing

@testable import Signing

/// Files of requests: what is signed, in which order, and which files are refused.
struct RequestSigningTests {
    private static let reference = #""requestInfo":{"requestReferenceId":"f55df048-4cd8-4261-b404-b6f813ff70e5"}"#
    private static let reactivation =
        #"{"operation":"REACTIVATE_SUBSCRIPTION","version":"1","transactionId":"12345",\#(reference)}"#

    private let key: SigningKey

    init() throws { key = try SigningKey.generate() }

    private func signing(_ kind: SignatureKind, width: Int = 4, allowsUnknown: Bool = false) -> RequestSigning {
        var time = Timekeeper.system
        time.wallClock = { 1_780_000_000_000 }
        let key = RequestKey(key: key, keyId: "KEY1", issuerId: "issuer", bundleId: "com.example.game")
        return RequestSigning(kind, key: key, time: time, width: width, allowsUnknown: allowsUnknown)
    }

    /// What signing a file with this content writes.
    private func output(_ kind: SignatureKind, _ text: String, width: Int = 4) async throws -> String {
        try await output(kind, Array(text.utf8), width: width)
    }

    private func output(_ kind: SignatureKind, _ bytes: [UInt8], width: Int = 4) async throws -> String {
        try await withTemporaryDirectory { directory in
            try Data(bytes).write(to: URL(filePath: directory + "/input"))
            var written: [UInt8] = []
            _ = try await signing(kind, width: width).sign(directory + "/input") { written += $0 }
            return String(decoding: written, as: UTF8.self)
        }
    }

    /// The message of a refused file, in which the file is called `input`.
    private func refusal(_ kind: SignatureKind, _ text: String) async throws -> String {
        try await refusal(kind, Array(text.utf8))
    }

    private func refusal(_ kind: SignatureKind, _ bytes: [UInt8]) async throws -> String {
        try await withTemporaryDirectory { directory in
            try Data(bytes).write(to: URL(filePath: directory + "/input"))
            do {
                _ = try await signing(kind).sign(directory + "/input") { _ in }
                return "nothing"
            } catch let error as SigningInputError {
                #expect(!error.isMissingInput)
                return error.sentence.replacing(directory + "/", with: "")
            }
        }
    }

    /// The rows of CSV text without quotes in its cells.
    private func rows(_ text: String) -> [[String]] {
        text.split(separator: "\r\n").map { line in
            line.split(separator: ",", omittingEmptySubsequences: false).map { String($0).replacing("\"", with: "") }
        }
    }

    /// The claims of a JWS.
    private func claims(_ jws: some StringProtocol) throws -> JSONObject {
        let segment = try #require(jws.split(separator: ".").dropFirst().first)
        let bytes = Array(segment.utf8)
        let payload = Base64.decodeURL(bytes.span)
        return try StrictJSON.parseObject(#require(payload))
    }

    @Test(arguments: [1, 8]) func `rows are signed in the order of the input, and every cell is kept`(width: Int)
        async throws
    {
        let input = (0..<3_000).map { "p\($0),\($0 % 2 == 0 ? "" : "20\($0)"),win.back,\"a, \($0)\"\n" }
        let text = "product_id,transaction_id,offer_identifier,note\n" + input.joined()
        let output = try await output(.promotionalOffer, text, width: width)
        let lines = output.split(separator: "\r\n")
        #expect(lines.first == "product_id,transaction_id,offer_identifier,note,signature" && lines.count == 3_001)
        for (number, line) in lines.dropFirst().enumerated() {
            let transaction = number % 2 == 0 ? "" : "\"20\(number)\""
            #expect(line.hasPrefix("\"p\(number)\",\(transaction),\"win.back\",\"a, \(number)\",eyJ"))
            let claims = try claims(try #require(line.split(separator: ",").last))
            #expect(claims["productId"]?.string == "p\(number)")
            #expect(claims["transactionId"]?.string == (number % 2 == 0 ? nil : "20\(number)"))
        }
        let nonces = try lines.dropFirst().map {
            try claims(try #require($0.split(separator: ",").last))["nonce"]?.string
        }
        #expect(Set(nonces).count == 3_000)
    }

    @Test func `an introductory offer is allowed or not as the row says`() async throws {
        let text = "product_id,allow_introductory_offer,transaction_id\np,true,1\np,false,2\n"
        let rows = rows(try await output(.introductoryOfferEligibility, text))
        #expect(rows[0] == ["product_id", "allow_introductory_offer", "transaction_id", "signature"])
        #expect(try rows.dropFirst().map { try claims($0[3])["allowIntroductoryOffer"]?.bool } == [true, false])
    }

    @Test func `the older form adds nonce, timestamp and key identifier`() async throws {
        let text = "product_id,offer_identifier\np,o\n"
        let rows = rows(try await output(.promotionalOfferSignature, text))
        #expect(rows[0] == ["product_id", "offer_identifier", "signature", "nonce", "timestamp", "key_identifier"])
        #expect(rows[1][4] == "1780000000000" && rows[1][5] == "KEY1")
    }

    @Test func `a request keeps its bytes, and gets a signature of them`() async throws {
        let spaced = Self.reactivation.replacing(#","version""#, with: #" , "version""#)
        let text = "\n \(spaced) \r\n\n" + Self.reactivation
        let lines = try await output(.advancedCommerce, text).split(separator: "\n")
        for (line, json) in zip(lines, [spaced, Self.reactivation]) {
            #expect(line.hasPrefix(String(json.dropLast()) + #","signature":"eyJ"#))
            let signature = try #require(StrictJSON.parseObject(Array(line.utf8))["signature"]?.string)
            let request = try #require(claims(signature)["request"]?.string)
            let signed = Base64.decodeStandard(request.utf8.span)
            #expect(signed == Array(json.utf8))
        }
        #expect(lines.count == 2)
    }

    @Test func `SG8 a line that is not one whole JSON object is named, and nothing is signed`() async throws {
        let whole = Self.reactivation
        for (line, problem) in [
            ("{", "reading JSON found text RFC 8259 does not allow here"),
            (whole + whole, "reading JSON found text RFC 8259 does not allow here"),
            (String(whole.dropLast()) + #","version":"1"}"#, "reading JSON found a member name the object already has"),
            ("\u{FEFF}" + whole, "reading JSON found bytes that are not UTF-8 without a byte order mark"),
            ("[\(whole)]", "wrong_type: the request must be an object"),
        ] as [(String, String)] {
            let found = try await refusal(.advancedCommerce, "\(whole)\n\(line)\n\(whole)\n")
            let lines = found.split(separator: "\n")
            #expect(lines.first == "input: 1 of 3 rows cannot be signed, so nothing was signed")
            #expect(lines.count == 2 && lines.last?.hasPrefix("input:2: \(problem)") == true, "\(found)")
        }
        #expect(
            try await refusal(.advancedCommerce, [UInt8](whole.utf8) + [0x0A, 0xFF, 0xFE])
                .contains("input:2: reading JSON found bytes that are not UTF-8")
        )
    }

    @Test func `SG1 all requests that break a rule are counted, and the first twenty are named`() async throws {
        let broken = String(Self.reactivation.dropLast()) + #","colour":1}"#
        let text = (1...2_000).map { ($0 % 50 == 0 ? broken : Self.reactivation) + "\n" }.joined()
        let lines = try await refusal(.advancedCommerce, text).split(separator: "\n")
        #expect(lines.first == "input: 40 of 2000 rows cannot be signed, so nothing was signed")
        #expect(lines.count == 22 && lines.last == "… and 20 more")
        #expect(
            lines[1]
                == "input:50: unknown_field: colour is not a member of SubscriptionReactivateInAppRequest; the members are operation, version, requestInfo, storefront, transactionId, items; --allow-unknown signs it"
        )
        #expect(lines[20].hasPrefix("input:1000: "))
    }

    /// What signing lines with members that are not documented writes and warns of; the message if they are refused.
    private func unknown(_ lines: [String]) async throws -> (output: [Substring], warnings: [String]) {
        try await withTemporaryDirectory { directory in
            try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: directory + "/input"))
            var (written, warnings): ([UInt8], [String]) = ([], [])
            do {
                _ = try await signing(.advancedCommerce, allowsUnknown: true)
                    .sign(directory + "/input", warn: { warnings.append($0) }) { written += $0 }
            } catch let error as SigningInputError {
                return ([], [error.sentence])
            }
            return (String(decoding: written, as: UTF8.self).split(separator: "\n"), warnings)
        }
    }

    @Test func `SG14 members that Apple does not document are signed as they stand, and counted`() async throws {
        let tiers = #""seatPriceTiers":[ {"price":1000,"maximumSeatQuantity":5} ]"#
        let items = #","items":[{"SKU":"A",\#(tiers)},{"SKU":"B",\#(tiers)}]}"#
        let request = String(Self.reactivation.dropLast()) + items
        let (output, warnings) = try await unknown([request, Self.reactivation, request])
        #expect(
            warnings == [
                "seatPriceTiers is not a member of SubscriptionReactivateItem in Apple's documentation; signed as it stands, 4 times"
            ]
        )
        let line = try #require(output.first)
        #expect(line.hasPrefix(request.dropLast()))
        let signature = try #require(StrictJSON.parseObject(Array(line.utf8))["signature"]?.string)
        let signed = try #require(claims(signature)["request"]?.string)
        let bytes = Base64.decodeStandard(signed.utf8.span)
        #expect(bytes == Array(request.utf8) && output.count == 3)
    }

    @Test func `SG14 known members keep their rules among unknown ones, and signature is the output's`() async throws {
        let start = String(Self.reactivation.dropLast())
        let sku = try await unknown([start + #","colour":1,"items":[{"SKU":""}]}"#])
        #expect(sku.output == [] && sku.warnings.joined().contains("items[0].SKU is empty"), "\(sku.warnings)")
        let signature = try await unknown([start + #","signature":"x"}"#])
        #expect(signature.warnings.joined().contains("signature is the member that the output adds"))
    }

    @Test func `SG9 a column that is missing, misspelt, there twice or added by the output is refused`() async throws {
        for (header, message) in [
            ("product_id", #"there is no column "offer_identifier"; the header has "product_id"."#),
            (
                "product_id,offer_identifier,transactionid",
                #"unknown column "transactionid"; did you mean "transaction_id"?"#
            ),
            (
                "product_id,offer_identifier,product_id",
                #"the header has "product_id" more than once; column names must differ."#
            ),
            (
                "product_id,offer_identifier,signature",
                #"the output adds a column "signature"; remove it from the input."#
            ),
        ] {
            let found = try await refusal(.promotionalOffer, header + "\na,b,c\n")
            #expect(found == "input: \(message) Nothing was signed")
        }
        #expect(
            try await refusal(.promotionalOffer, "product_id;offer_identifier\na;b\n")
                == "input:1: cells seem to be separated by \";\"; use commas. Nothing was signed"
        )
    }

    @Test func `SG10 a value that cannot be signed is named with its line and its rule`() async throws {
        for (kind, row, problem) in [
            (.promotionalOffer, ",o,1", "product_id is missing; it must be 1 to 255 characters without white space"),
            (.promotionalOffer, "p q,o,1", #"product_id is "p q"; it must be 1 to 255 characters without white space"#),
            (
                .promotionalOffer, "p,\"o\u{2063}\",1",
                #"offer_identifier is "o\u{2063}"; it must be 1 to 255 characters without white space"#
            ),
            (.promotionalOffer, "p,o,12a", #"transaction_id is "12a"; it must be a transaction ID of 1 to 20 digits"#),
            (.promotionalOffer, "p,o,1,x", "the row has 4 cells, the header has 3"),
            (.introductoryOfferEligibility, "p,yes,1", #"allow_introductory_offer is "yes"; it must be true or false"#),
            (
                .introductoryOfferEligibility, "p,true,",
                "transaction_id is missing; it must be a transaction ID of 1 to 20 digits"
            ),
            (
                .promotionalOfferSignature, "p,o,\"u\u{2063}v\"",
                #"application_username is "u\u{2063}v"; it must be at most 255 characters without control characters and U+2063"#
            ),
        ] as [(SignatureKind, String, String)] {
            let names = OfferColumn.columns(of: kind).map(\.name).joined(separator: ",")
            let found = try await refusal(kind, "\(names)\n\n\(row)\n")
            #expect(found == "input: 1 of 1 rows cannot be signed, so nothing was signed\ninput:3: \(problem)")
        }
    }

    @Test(arguments: SignatureKind.allCases)
    func `SG11 a file without rows is refused`(kind: SignatureKind) async throws {
        let names = OfferColumn.columns(of: kind).map(\.name).joined(separator: ",")
        #expect(try await refusal(kind, names + "\n") == "input: there are no rows. Nothing was signed")
        let empty =
            kind == .advancedCommerce
            ? "there are no rows." : "the file is empty; it must have a header or at least one row."
        #expect(try await refusal(kind, "") == "input: \(empty) Nothing was signed")
        do {
            _ = try await signing(kind).sign("/missing") { _ in }
        } catch let error as SigningInputError {
            #expect(error.isMissingInput && error.sentence == "/missing: there is no such file. Nothing was signed")
        }
    }

    @Test func `SG12 a line of more than 256 KiB ends the command, however long it is`() async throws {
        let message = "a line has more than 262144 bytes; write one request on each line. Nothing was signed"
        for length in [262_145, 1_000_000] {
            let text = Self.reactivation + "\n" + String(repeating: " ", count: length)
            #expect(try await refusal(.advancedCommerce, text) == "input:2: \(message)")
        }
        let longest = Self.reactivation + String(repeating: " ", count: 262_144 - Self.reactivation.utf8.count)
        #expect(try await output(.advancedCommerce, longest + "\n").hasPrefix(Self.reactivation.dropLast()))
    }
}
