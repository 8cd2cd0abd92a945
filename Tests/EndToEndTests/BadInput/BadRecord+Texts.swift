import AppStoreModel

@testable import SignedData

extension BadRecord {
    static let claims: [BadRecord] =
        [
            .rejected("J30", "another app", "bundle") { try $0.signed(["bundleId": #""com.example.other""#]) },
            .rejected("J31", "Sandbox in a Production job", "environment") {
                try $0.signed(["environment": #""Sandbox""#])
            },
            .loaded("J33", "a purchase nobody asked for", row: "original_transaction_id = '999'") {
                try $0.signed(["originalTransactionId": #""999""#])
            },
            .rejected("J34", "Xcode, with the good chain", "environment") {
                try $0.signed(["environment": #""Xcode""#])
            },
            .rejected("J34", "Xcode, with one certificate that signs itself", "x5c_len") { scene in
                let own = try IssuedCertificate.selfSigned(scene.leafShape)
                return try JWSIssuer(x5c: [own.der], leaf: own)
                    .sign(payload: Array(scene.payload(["environment": #""Xcode""#]).utf8))
            },
        ]
        + [#""LocalTesting""#, #""xcode""#, nil].map { environment in
            .rejected("J35", environment ?? "missing", "environment") { try $0.signed(["environment": environment]) }
        }
        + [nil, "null", #""1794999940000""#, "-1", "0"].map { date in
            .rejected("J36", "signedDate \(date ?? "missing")", "signed_date") { try $0.signed(["signedDate": date]) }
        }
        + ["1.7697679936049E12", "1769767993604.7297"].map { date in
            .loaded("J37", date, issues: ["signedDate"], row: "signed_date = to_timestamp(1769767993604 / 1000.0)") {
                try $0.signed(["signedDate": date == "1.7697679936049E12" ? "1.769767993604E12" : date])
            }
        }
        + [
            .rejected("J38", "the year 2999", "future") { try $0.signed(["signedDate": "32472144000000"]) },
            .elements(
                "J67",
                "two of one signedDate",
                loaded: 1,
                row: "revocation_date IS NOT NULL AND price_milliunits = 1"
            ) { scene in
                let revoked = try scene.signed(["price": "1", "revocationDate": "1779999998000"])
                return [quoted(revoked), quoted(try scene.signed(["price": "2"]))]
            },
            .elements(
                "J67",
                "two of one signedDate, the other way round",
                loaded: 1,
                row: "revocation_date IS NOT NULL"
            ) {
                let revoked = try $0.signed(["revocationDate": "1779999998000"])
                return [quoted(try $0.signed(["price": "2"])), quoted(revoked)]
            },
        ]

    static let texts: [BadRecord] =
        (0..<3).map { place in
            .rejected("J48", "the last bits of segment \(place)", "base64") { try bent(place, $0) }
        }
        + ["=", "+", "/", "\n", " ", "%2B"].map { foreign in
            .rejected("J49", "\(foreign.debugDescription) inside", "base64") { scene in
                try RecordScene.changing(1, of: scene.signed()) {
                    foreign == "=" ? $0 + foreign : $0.prefix(8) + foreign + $0.dropFirst(8)
                }
            }
        }
        + [
            .rejected("J50", "a newline after", "format") { try $0.signed() + "\n" },
            .rejected("J50", "a space before", "format") { try " " + $0.signed() },
            .rejected("J50", "a byte order mark before", "format") { try "\u{FEFF}" + $0.signed() },
        ]
        + ["a", "a.b", "a.b.c.d", "a.b.c.d.e", ".b.c", "a..c", ".."].map { text in
            .rejected("J52", text, "format") { _ in text }
        }
        + [
            .rejected("J53", "100,000 dots", "format") { _ in String(repeating: ".", count: 100_000) },
            .rejected("J54", "64 KiB and a byte", "size") { scene in
                let jws = try scene.signed()
                return jws + String(repeating: "A", count: 64 * 1_024 + 1 - jws.utf8.count)
            },
            .rejected("J58", "the JSON serialisation as text", "format") { _ in
                #"{"payload":"eyJ9","signatures":[{"protected":"eyJ9","signature":"AA"}]}"#
            },
            .elements("J58", "the JSON serialisation", reason: "unreadable") { _ in
                [#"{"payload":"eyJ9","signatures":[{"protected":"eyJ9","signature":"AA"}]}"#]
            },
        ]

    /// Sets a bit of a segment's last character that no byte has.
    private static func bent(_ place: Int, _ scene: RecordScene) throws -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        // Both texts get as many spaces as leave bits over.
        let spaces = { (text: String) in String(repeating: " ", count: (4 - text.utf8.count % 3) % 3) }
        let header = "{\"alg\":\"ES256\",\"x5c\":\(scene.x5c(scene.entries))}"
        let payload = scene.payload()
        let jws = try JWSIssuer(headerJSON: Array((header + spaces(header)).utf8), leaf: scene.authority.leaf)
            .sign(payload: Array((payload + spaces(payload)).utf8))
        return try RecordScene.changing(place, of: jws) { segment in
            let last = alphabet.firstIndex { $0 == segment.last } ?? 0
            return segment.dropLast() + String(alphabet[last | 1])
        }
    }
}
