import AppStoreModel
import Glibc
import StrictJSON
import Testing

@testable import SignedData

struct JWSTextTests {
    let world: SignedWorld

    init() throws { world = try SignedWorld() }

    @Test func `J48 trailing bits that are not zero are refused in each segment`() throws {
        let header = #"{"alg":"ES256","x5c":\#(world.x5cJSON)}"#
        let padded = header + String(repeating: " ", count: (4 - header.utf8.count % 3) % 3)
        for index in 0..<3 {
            let spaces = [UInt8](repeating: 0x20, count: (4 - SignedWorld.payload().count % 3) % 3)
            let jws = try world.signed(header: padded, payload: SignedWorld.payload() + spaces)
            #expect(world.refusal(of: jws) == nil)
            let bent = jws.replacingSegment(index) { segment in
                let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
                let last = alphabet.firstIndex { $0 == segment.last } ?? 0
                return segment.dropLast() + String(alphabet[last | 1])
            }
            #expect(bent != jws)
            #expect(world.refusal(of: bent) == .base64)
        }
    }

    @Test(arguments: 0..<3, ["=", "==", "+", "/", "\n", " ", "%2B", "\u{0}", "é"])
    func `J49 foreign characters inside a segment are refused`(index: Int, foreign: String) throws {
        let bent = try world.signed().replacingSegment(index) { segment in
            foreign.hasPrefix("=") ? segment + foreign : segment.prefix(8) + foreign + segment.dropFirst(8)
        }
        #expect(world.refusal(of: bent) == .base64)
    }

    @Test(arguments: ["\n", "\r\n", " ", "\u{FEFF}", "\t"])
    func `J50 anything around a record is refused`(foreign: String) throws {
        #expect(world.refusal(of: try world.signed() + foreign) == .format)
        #expect(world.refusal(of: try foreign + world.signed()) == .format)
    }

    @Test(arguments: ["", ".", "..", "...", "a", "a.b", "a.b.c.d", "a.b.c.d.e", ".b.c", "a..c", "..c"])
    func `J52 anything but three segments is refused`(text: String) {
        #expect(world.refusal(of: text) == .format)
    }

    @Test func `J53 four MiB of dots are refused at the third`() {
        let dots = String(repeating: ".", count: 4 * 1_024 * 1_024)
        var refusal: JWSRejection.Reason?
        let before = processorNanoseconds
        refusal = world.refusal(of: dots)
        #expect(refusal == .format)
        // To walk through all of them takes a hundred times as long, however busy the machine is.
        #expect(processorNanoseconds - before < 10_000_000)
    }

    @Test func `J54 a record over the limit is refused and one at the limit is read`() throws {
        let jws = try world.signed()
        #expect(world.refusal(of: jws, maximumBytes: jws.utf8.count) == nil)
        #expect(world.refusal(of: jws, maximumBytes: jws.utf8.count - 1) == .size)
        let long = try world.signed(SignedWorld.payload() + [UInt8](repeating: 0x20, count: 64 * 1_024))
        #expect(world.refusal(of: long) == .size)
        #expect(world.refusal(of: long, maximumBytes: JWSVerifier.maximumNotificationBytes) == nil)
        #expect(world.refusal(of: String(repeating: "A", count: 10 * 1_024 * 1_024)) == .size)
    }

    @Test func `J58 the JSON serialisation is refused`() {
        #expect(
            world.refusal(of: #"{"payload":"eyJ9","signatures":[{"protected":"eyJ9","signature":"AA"}]}"#) == .format
        )
    }

    @Test func `J59 hostile text in a signed payload arrives as it is`() throws {
        let payload = Array(#"{"productId":"\u001b[2Jx\nlevel=error\u202e","signedDate":1794999940000}"#.utf8)
        let verified = try world.verifier.verify(world.signed(payload), now: world.now)
        #expect(verified.payload == payload)
        #expect(verified.json["productId"]?.string == "\u{1B}[2Jx\nlevel=error\u{202E}")
    }

    @Test(arguments: [
        (#"{"signedDate":1794999940000,"signedDate":1794999940000}"#, JWSRejection.Reason.duplicateKey),
        ("\u{FEFF}{}", .encoding), (#"{"a":"\u0000"}"#, .nul), ("{} {}", .json), ("[1]", .json), ("7", .json),
        (#"{"a":1,}"#, .json), (#"{"a":\#(String(repeating: "[", count: 40))"#, .jsonDepth),
    ])
    func `a signed payload that is not strict JSON is refused`(text: String, reason: JWSRejection.Reason) throws {
        #expect(world.refusal(of: try world.signed(Array(text.utf8))) == reason)
    }

    @Test func `every reason has its own word`() {
        #expect(Set(JWSRejection.Reason.allCases.map(\.rawValue)).count == JWSRejection.Reason.allCases.count)
    }

    /// What this thread has had of a processor.
    private var processorNanoseconds: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
