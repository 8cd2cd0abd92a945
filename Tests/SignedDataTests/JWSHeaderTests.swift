import AppStoreModel
import Hashing
import StrictJSON
import TestSupport
import Testing

@testable import SignedData

struct JWSHeaderTests {
    let world: SignedWorld

    init() throws { world = try SignedWorld() }

    @Test func `a record of a trusted authority is accepted`() throws {
        let payload = SignedWorld.payload()
        let verified = try world.verifier.verify(world.signed(payload), now: world.now)
        #expect(verified.payload == payload)
        #expect(verified.payloadSHA256 == SHA256.digest(of: payload))
        #expect(verified.signedDate == world.now - .seconds(60))
        #expect(verified.json["transactionId"]?.string == "2000000123456789")
        #expect(verified.signature.count == 64)
        #expect(!verified.signedDateWasInexact)
        #expect(!verified.rootDiffers)
    }

    @Test func `J01 alg none with an empty signature is refused`() throws {
        let jws = try world.signed(header: #"{"alg":"none","x5c":\#(world.x5cJSON)}"#).replacingSegment(2) { _ in "" }
        #expect(world.refusal(of: jws) == .alg)
    }

    @Test(arguments: ["None", "NONE", "es256", "ES256 ", "ES384", "ES512", "RS256", "PS256", "EdDSA", ""])
    func `J02 J04 any label but ES256 is refused`(alg: String) throws {
        let jws = try world.signed(header: #"{"alg":"\#(alg)","x5c":\#(world.x5cJSON)}"#)
        #expect(world.refusal(of: jws) == .alg)
    }

    @Test func `J03 a MAC keyed with public data is refused`() throws {
        let leaf = world.authority.leaf
        let text = Base64.encodeStandard(leaf.der)
        let pem = Array(PEMBlock.text(label: "PUBLIC KEY", content: leaf.key.publicKeyInfo).utf8)
        for key in [leaf.key.publicKeyInfo, pem, text] {
            let signed =
                base64URL(Array(#"{"alg":"HS256","x5c":\#(world.x5cJSON)}"#.utf8)) + "."
                + base64URL(SignedWorld.payload())
            let jws = signed + "." + base64URL(hmacSHA256(Array(signed.utf8), key: key))
            #expect(world.refusal(of: jws) == .alg)
        }
    }

    @Test(arguments: ["", #""alg":1,"#, #""alg":["ES256"],"#, #""alg":null,"#])
    func `J05 a missing or odd alg is refused`(member: String) throws {
        #expect(world.refusal(of: try world.signed(header: #"{\#(member)"x5c":\#(world.x5cJSON)}"#)) == .header)
    }

    @Test(arguments: [
        #""alg":"none","alg":"ES256""#, #""alg":"ES256","alg":"none""#, #""alg":"ES256","\u0061lg":"none""#,
    ])
    func `J06 two alg members are refused`(members: String) throws {
        #expect(world.refusal(of: try world.signed(header: #"{\#(members),"x5c":\#(world.x5cJSON)}"#)) == .duplicateKey)
    }

    @Test func `J07 a key in the header is never used`() throws {
        let attacker = try SignedWorld().authority.leaf
        let header = #"{"alg":"ES256","jwk":{"kty":"EC","crv":"P-256"},"x5c":\#(world.x5cJSON)}"#
        let jws = try JWSIssuer(headerJSON: Array(header.utf8), leaf: attacker).sign(payload: SignedWorld.payload())
        #expect(world.refusal(of: jws) == .signature)
    }

    @Test(arguments: ["jku", "x5u"])
    func `J08 a link to a key changes nothing`(name: String) throws {
        let header = #"{"alg":"ES256","\#(name)":"http://127.0.0.1:1/keys","x5c":\#(world.x5cJSON)}"#
        #expect(world.refusal(of: try world.signed(header: header)) == nil)
    }

    @Test(arguments: [#""crit":["exp"],"#, #""crit":["b64"],"b64":false,"#, #""b64":false,"#, #""crit":null,"#])
    func `J09 an extension that must be understood is refused`(members: String) throws {
        #expect(
            world.refusal(of: try world.signed(header: #"{\#(members)"alg":"ES256","x5c":\#(world.x5cJSON)}"#)) == .crit
        )
    }

    @Test(arguments: [0, 1, 2, 4, 50])
    func `J16 any number of certificates but three is refused`(count: Int) throws {
        let entry = String(decoding: Base64.encodeStandard(world.authority.leaf.der), as: UTF8.self)
        let entries = Array(repeating: count > 4 ? "MAA=" : entry, count: count)
        #expect(
            world.refusal(of: try world.signed(header: #"{"alg":"ES256","x5c":\#(world.x5cJSON(entries))}"#))
                == .x5cLength
        )
    }

    @Test(arguments: ["", #","x5c":"MAA=""#, #","x5c":[1,"MAA=","MAA="]"#, #","x5c":null"#, #","x5c":{}"#])
    func `J17 an x5c that is not three strings is refused`(member: String) throws {
        #expect(world.refusal(of: try world.signed(header: #"{"alg":"ES256"\#(member)}"#)) == .header)
    }

    @Test(arguments: 0..<3, ["newline", "url alphabet", "no padding", "junk"])
    func `J15 J51 an x5c entry that is not strict base64 is refused`(index: Int, fault: String) throws {
        var entries = world.authority.chain.map { String(decoding: Base64.encodeStandard($0), as: UTF8.self) }
        entries[index] =
            switch fault {
            case "newline": String(entries[index].prefix(64)) + #"\n"# + String(entries[index].dropFirst(64))
            case "url alphabet": "_-" + String(entries[index].dropFirst(2))
            case "no padding": "MAA"
            default: "not base64 at all!"
            }
        #expect(
            world.refusal(of: try world.signed(header: #"{"alg":"ES256","x5c":\#(world.x5cJSON(entries))}"#)) == .x5c
        )
    }

    @Test(arguments: ["[]", #""ES256""#, "null", "1"])
    func `a header that is not an object is refused`(header: String) throws {
        #expect(world.refusal(of: try world.signed(header: header)) == .json)
    }

    @Test(arguments: [33, 10_000])
    func `J56 a deep header is refused without a deep stack`(levels: Int) throws {
        let deep = String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1)
        let jws = try world.signed(
            header: #"{"alg":"ES256","extra":\#(levels > 1_000 ? String(deep.prefix(levels)) : deep)}"#
        )
        #expect(world.refusal(of: jws) == .jsonDepth)
    }

    @Test func `J57 surplus members are ignored up to the size limit`() throws {
        let surplus = { (count: Int) in (0..<count).map { #""m\#($0)":0,"# }.joined() }
        #expect(
            world.refusal(of: try world.signed(header: #"{\#(surplus(1_000))"alg":"ES256","x5c":\#(world.x5cJSON)}"#))
                == nil
        )
        let tooMany = try world.signed(header: #"{\#(surplus(3_000))"alg":"ES256","x5c":\#(world.x5cJSON)}"#)
        #expect(world.refusal(of: tooMany) == .headerSize)
    }

    @Test func `a hostile alg is quoted as printable text`() throws {
        let jws = try world.signed(header: #"{"alg":"\u001b[2J\nlevel=error\u202e","x5c":[]}"#)
        let rejection = #expect(throws: JWSRejection.self) { try world.verifier.verify(jws, now: world.now) }
        #expect(rejection?.detail.utf8.allSatisfy { (0x20...0x7E).contains($0) } == true)
    }
}
