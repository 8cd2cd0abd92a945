import AppStoreModel
import Hashing
import TestSupport

@testable import SignedData

extension BadRecord {
    static let headers: [BadRecord] =
        [
            .rejected("J01", "alg none without a signature", "alg") { scene in
                try RecordScene.changing(2, of: scene.signed(header: #"{"alg":"none","x5c":<x5c>}"#)) { _ in "" }
            }
        ]
        + ["None", "NONE", "es256"].map { alg in
            .rejected("J02", alg, "alg") { try $0.signed(header: "{\"alg\":\"\(alg)\",\"x5c\":<x5c>}") }
        }
        + ["DER", "PEM", "x5c[0]"].map { form in
            .rejected("J03", "HS256 keyed with the leaf's key as \(form)", "alg") { try macKeyed(form, $0) }
        }
        + ["ES384", "ES512", "RS256", "PS256", "EdDSA"].map { alg in
            .rejected("J04", alg, "alg") { try $0.signed(header: "{\"alg\":\"\(alg)\",\"x5c\":<x5c>}") }
        }
        + ["", #""alg":1,"#, #""alg":["ES256"],"#, #""alg":null,"#].map { member in
            .rejected("J05", member, "header") { try $0.signed(header: "{\(member)\"x5c\":<x5c>}") }
        }
        + [#""alg":"none","alg":"ES256""#, #""alg":"ES256","alg":"none""#].map { members in
            .rejected("J06", members, "dup_key") { try $0.signed(header: "{\(members),\"x5c\":<x5c>}") }
        }
        + [
            .rejected("J07", "the attacker's jwk, signed with it", "signature") { scene in
                let attacker = try scene.authority.intermediate.issue(scene.leafShape)
                let point = attacker.key.publicKeyInfo.suffix(64)
                let jwk =
                    #"{"kty":"EC","crv":"P-256","x":"\#(base64URL(point.prefix(32)))","#
                    + #""y":"\#(base64URL(point.suffix(32)))"}"#
                return try scene.signed(header: "{\"alg\":\"ES256\",\"jwk\":\(jwk),\"x5c\":<x5c>}", by: attacker)
            }
        ]
        + ["jku", "x5u"].flatMap { name -> [BadRecord] in
            let header: @Sendable (String) -> String = { trap in
                "{\"alg\":\"ES256\",\"\(name)\":\"\(trap)\",\"x5c\":<x5c>}"
            }
            return [
                .loaded("J08", "\(name), signed by the leaf") { try $0.signed(header: header($0.trap)) },
                .rejected("J08", "\(name), signed by whoever answers there", "signature") { scene in
                    let attacker = try scene.authority.intermediate.issue(scene.leafShape)
                    return try scene.signed(header: header(scene.trap), by: attacker)
                },
            ]
        }
        + [#""crit":["exp"]"#, #""crit":["b64"],"b64":false"#, #""b64":false"#].map { members in
            .rejected("J09", members, "crit") { try $0.signed(header: "{\"alg\":\"ES256\",\(members),\"x5c\":<x5c>}") }
        }
        + [0, 1, 2, 4, 50].map { count in
            .rejected("J16", "\(count) certificates", "x5c_len") { scene in
                let entries = Array(repeating: count > 4 ? "MAA=" : scene.entries[0], count: count)
                return try scene.signed(header: "{\"alg\":\"ES256\",\"x5c\":\(scene.x5c(entries))}")
            }
        }
        + ["", #","x5c":"MAA=""#, #","x5c":[1,"MAA=","MAA="]"#].map { member in
            .rejected("J17", "x5c\(member)", "header") { try $0.signed(header: "{\"alg\":\"ES256\"\(member)}") }
        }
        + [
            .rejected("J51", "an x5c entry with a newline", "x5c") { scene in
                try scene.signed(entry: 0) { $0.prefix(64) + #"\n"# + $0.dropFirst(64) }
            },
            .rejected("J51", "an x5c entry in the url alphabet", "x5c") { scene in
                try scene.signed(entry: 1) { "_-" + $0.dropFirst(2) }
            },
            .rejected("J51", "an x5c entry without padding", "x5c") { scene in try scene.signed(entry: 2) { _ in "MAA" }
            },
            .rejected("J56", "10,000 levels", "json_depth") { scene in
                try scene.signed(header: #"{"alg":"ES256","extra":"# + String(repeating: "[", count: 10_000))
            },
            .rejected("J56", "100,000 levels", "size") { scene in
                try scene.signed(header: #"{"alg":"ES256","extra":"# + String(repeating: "[", count: 100_000))
            },
            .loaded("J57", "1,000 further members") { try $0.signed(header: surplusHeader(1_000)) },
            .rejected("J57", "3,000 further members", "header_size") { try $0.signed(header: surplusHeader(3_000)) },
        ]

    static let signatures: [BadRecord] =
        [
            .rejected("J10", "a payload byte", "signature") { scene in
                try RecordScene.changing(1, of: scene.signed()) { _ in
                    base64URL(Array(scene.payload(["price": "1"]).utf8))
                }
            },
            .rejected("J10", "a header byte", "signature") { scene in
                try RecordScene.changing(0, of: scene.signed()) { _ in
                    base64URL(Array("{\"alg\":\"ES256\",\"x5c\" :\(scene.x5c(scene.entries))}".utf8))
                }
            },
            .rejected("J10", "a signature byte", "signature") { scene in
                try scene.signed { bytes in
                    var bytes = bytes
                    bytes[40] ^= 1
                    return bytes
                }
            },
            .rejected("J11", "another record's signature", "signature") { scene in
                let other = try scene.signed(["price": "1"]).split(separator: ".")[2]
                return try RecordScene.changing(2, of: scene.signed()) { _ in String(other) }
            },
            .rejected("J12", "another key under the leaf's name", "signature") { scene in
                let twin = try scene.authority.intermediate.issue(scene.leafShape)
                return try scene.signed(chain: scene.authority.chain, by: twin)
            },
            .rejected("J39", "DER", "sig_len") { scene in
                try scene.signed { [0x30, 0x46, 0x02, 0x21, 0x00] + $0[..<32] + [0x02, 0x21, 0x00] + $0[32...] }
            },
        ]
        + [0, 1, 63, 65, 128, 16_384].map { count in
            .rejected("J40", "\(count) bytes", "sig_len") { scene in
                try scene.signed { _ in [UInt8](repeating: 0x30, count: count) }
            }
        }
        + [(true, true), (true, false), (false, true)].map { (r: Bool, s: Bool) in
            .rejected("J41", "r \(r ? "0" : "kept"), s \(s ? "0" : "kept")", "signature") { scene in
                let zero = [UInt8](repeating: 0, count: 32)
                return try scene.signed { (r ? zero : Array($0[..<32])) + (s ? zero : Array($0[32...])) }
            }
        }
        + [
            .rejected("J42", "r = n", "signature") { scene in try scene.signed { orderOfP256 + $0[32...] } },
            .rejected("J42", "s = n", "signature") { scene in try scene.signed { $0[..<32] + orderOfP256 } },
            .rejected("J44", "64 times FF", "signature") { scene in
                try scene.signed { _ in [UInt8](repeating: 0xFF, count: 64) }
            },
            .loaded("J43", "r begins with a zero") { try leadingZero(at: 0, $0) },
            .loaded("J43", "s begins with a zero") { try leadingZero(at: 32, $0) },
            .loaded("J47", "the twin (r, n-s) of the page's good record", further: 0) { scene in
                try RecordScene.changing(2, of: scene.good) { segment in
                    let bytes = Base64.decodeURL(segment.utf8.span) ?? []
                    return base64URL(bytes[..<32] + orderOfP256(minus: bytes[32...]))
                }
            },
        ]

    private static func macKeyed(_ form: String, _ scene: RecordScene) throws -> String {
        let leaf = scene.authority.leaf
        let key: [UInt8] =
            switch form {
            case "DER": leaf.key.publicKeyInfo
            case "PEM": Array(PEMBlock.text(label: "PUBLIC KEY", content: leaf.key.publicKeyInfo).utf8)
            default: Array(scene.entries[0].utf8)
            }
        let signed =
            base64URL(Array("{\"alg\":\"HS256\",\"x5c\":\(scene.x5c(scene.entries))}".utf8)) + "."
            + base64URL(Array(scene.payload().utf8))
        return signed + "." + base64URL(hmacSHA256(Array(signed.utf8), key: key))
    }

    private static func surplusHeader(_ count: Int) -> String {
        "{" + (0..<count).map { "\"m\($0)\":0," }.joined() + "\"alg\":\"ES256\",\"x5c\":<x5c>}"
    }

    /// Signs again until chance makes the number at `place` short: one time in 256.
    private static func leadingZero(at place: Int, _ scene: RecordScene) throws -> String {
        while true {
            let jws = try scene.signed()
            let signature = Base64.decodeURL(jws.split(separator: ".")[2].utf8.span) ?? []
            if signature[place] == 0 { return jws }
        }
    }
}
