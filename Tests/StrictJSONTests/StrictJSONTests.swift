import StrictJSON
import Testing

struct StrictJSONTests {
    private static func reason(_ bytes: [UInt8]) -> StrictJSONError.Reason? {
        do throws(StrictJSONError) {
            _ = try StrictJSON.parse(bytes)
            return nil
        } catch {
            return error.reason
        }
    }

    private static func reason(_ text: String) -> StrictJSONError.Reason? {
        reason(Array(text.utf8))
    }

    @Test
    func `a document is read as it was written`() throws {
        let text = #" {"a" : [1, -2.50e+3, true, false, null], "é\n\u00e9\ud83d\ude00" : {"": "x/y"} } "#
        let value = try StrictJSON.parse(Array(text.utf8))
        let inner = JSONValue.object(JSONObject([.init(key: "", value: .string("x/y"))]))
        let numbers = ["1", "-2.50e+3"].map { JSONValue.number(JSONNumber(text: $0)) }
        #expect(value.object?.members.map(\.key) == ["a", "é\né😀"])
        #expect(value.object?["a"] == .array(numbers + [.bool(true), .bool(false), .null]))
        #expect(value.object?["é\né😀"] == inner)
    }

    @Test(arguments: [
        #"{"price":1,"price":2}"#, #"{"price":1,"\u0070rice":2}"#, #"[{"a":{"b":1,"c":2,"b":3}}]"#,
    ])
    func `N01 a name that occurs twice is refused, also when one is escaped`(_ text: String) {
        #expect(Self.reason(text) == .duplicateKey)
    }

    @Test
    func `names that only look the same are two names`() throws {
        let object = try StrictJSON.parseObject(Array("{\"e\u{301}\":1,\"\u{E9}\":2,\"SKU\":3,\"S\u{212A}U\":4}".utf8))
        #expect(object.members.count == 4)
        #expect(object["SKU"]?.number?.int64 == 3)
        #expect(object["\u{E9}"]?.number?.int64 == 2)
    }

    @Test(arguments: [2, 23, 47, 48, 49, 50, 1_000])
    func `N01 the last name of an object of any size is compared with all before it`(_ count: Int) {
        let members = (0..<count).map { "\"k\($0)\":0" }.joined(separator: ",")
        #expect(Self.reason("{\(members)}") == nil)
        #expect(Self.reason("{\(members),\"k0\":1}") == .duplicateKey)
        #expect(Self.reason("{\(members),\"k\(count - 1)\":1}") == .duplicateKey)
    }

    @Test
    func `N02 a byte order mark is refused`() {
        #expect(Self.reason([0xEF, 0xBB, 0xBF] + Array("{}".utf8)) == .encoding)
    }

    @Test(
        arguments: [
            [0x7B, 0, 0x7D, 0], [0, 0x7B, 0, 0x7D], [0xFF, 0xFE, 0x7B, 0, 0x7D, 0], [0xFE, 0xFF, 0, 0x7B, 0, 0x7D],
            [0x7B, 0, 0, 0, 0x7D, 0, 0, 0], [0, 0, 0, 0x7B, 0, 0, 0, 0x7D],
        ] as [[UInt8]]
    )
    func `N03 UTF-16 and UTF-32 are refused`(_ bytes: [UInt8]) {
        #expect(Self.reason(bytes) == .encoding)
    }

    @Test(
        arguments: [
            [0xFF, 0xFE], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0x80], [0xC3], [0xE2, 0x82],
            [0xE2, 0x82, 0x22], [0xF0, 0x9F, 0x98],
        ] as [[UInt8]]
    )
    func `N04 bytes that are not UTF-8 are refused, in strings and outside`(_ bytes: [UInt8]) {
        #expect(Self.reason([0x22] + bytes + [0x22]) == .encoding)
        #expect(Self.reason([0x5B] + bytes + [0x5D]) == .encoding)
        #expect(Self.reason(bytes) == .encoding)
    }

    @Test
    func `N04 every scalar of Unicode passes`() throws {
        let edges: [Unicode.Scalar] = [
            "\u{20}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{FFF}", "\u{1000}", "\u{D7FF}", "\u{E000}",
            "\u{FFFF}", "\u{10000}", "\u{3FFFF}", "\u{40000}", "\u{FFFFF}", "\u{100000}", "\u{10FFFF}",
        ]
        let text = String(String.UnicodeScalarView(edges))
        #expect(try StrictJSON.parse(Array("\"\(text)\"".utf8)) == .string(text))
    }

    @Test(arguments: [
        #""\ud800""#, #""\udc00""#, #""\ud800x""#, #""\ud800\u0041""#, #""\udc00\ud800""#, #""\ud83d\ud83d""#,
    ])
    func `N05 half a surrogate pair is refused`(_ text: String) {
        #expect(Self.reason(text) == .json)
    }

    @Test
    func `N06 U+0000 is refused, escaped and raw`() {
        #expect(Self.reason(#"{"productId":"a\u0000b"}"#) == .nul)
        #expect(Self.reason(#"{"a\u0000":1}"#) == .nul)
        #expect(Self.reason("\"a\u{0}b\"") == .nul)
    }

    @Test(arguments: ["\\n", "\\\"", "\\\\", "é", "😀", "\u{7F}", " ", "~", "!", "#", "[", "]"])
    func `a string is read as it was written, with a special byte at any place`(_ piece: String) throws {
        let meaning = ["\\n": "\n", "\\\"": "\"", "\\\\": "\\"][piece] ?? piece
        for length in 0...75 {
            for place in 0...length {
                let before = String(repeating: "a", count: place)
                let after = String(repeating: "z", count: length - place)
                let value = try StrictJSON.parse(Array("[\"\(before)\(piece)\(after)\",1]".utf8))
                #expect(value == .array([.string(before + meaning + after), .number(JSONNumber(text: "1"))]))
            }
        }
    }

    @Test(arguments: [0x00, 0x1F, 0x80, 0xFF] as [UInt8])
    func `a byte that no string may have is found at any place`(_ byte: UInt8) {
        let reason: StrictJSONError.Reason = byte == 0 ? .nul : byte < 0x80 ? .json : .encoding
        for length in 0...75 {
            for place in 0...length {
                var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                bytes.insert(byte, at: place)
                #expect(throws: StrictJSONError(reason: reason, offset: place + 2)) {
                    try StrictJSON.parse(Array("[\"".utf8) + bytes + Array("\"]".utf8))
                }
            }
        }
    }

    @Test(arguments: [
        "[1,]", #"{"a":1,}"#, "[1]//x", "/*x*/[1]", "['a']", "{'a':1}", "{a:1}", "NaN", "[NaN]", "[Infinity]", "[01]",
        "[+1]", "[.5]", "[1.]", "[-]", "[1e]", "[1e+]", "[0x1]", "[1_000]", #"["\x41"]"#, #"["\u00g0"]"#, #"["\u12"]"#,
        "[tru]", "[nul", "[True]", "[\"a\nb\"]", "[\"a", "[\"a\\", "[", "{", #"{"a""#, #"{"a":"#, "[1 2]", "[1,,2]",
        "]",
        "[\u{A0}1]", "[\u{FF11}]",
    ])
    func `N07 what RFC 8259 does not allow is refused`(_ text: String) {
        #expect(Self.reason(text) == .json)
    }

    @Test(arguments: ["{}{}", "{} x", "1 2", "", " \n\t\r", "{},"])
    func `N08 a document is one value and nothing more`(_ text: String) {
        #expect(Self.reason(text) == .json)
    }

    @Test(arguments: ["[]", "\"a\"", "1", "null"])
    func `N09 what has to be an object is refused as anything else`(_ text: String) {
        #expect(throws: StrictJSONError(reason: .json, offset: 0)) { try StrictJSON.parseObject(Array(text.utf8)) }
    }

    @Test(arguments: [33, 512, 513, 100_000])
    func `N18 nesting beyond 32 levels is refused, however deep`(_ depth: Int) {
        #expect(Self.reason(String(repeating: "[", count: depth)) == .depth)
        #expect(Self.reason(String(repeating: #"{"a":"#, count: depth)) == .depth)
    }

    @Test
    func `N18 nesting of 32 levels is read`() {
        #expect(Self.reason(String(repeating: "[", count: 32) + String(repeating: "]", count: 32)) == nil)
        #expect(Self.reason("[" + String(repeating: "[],", count: 100) + "0]") == nil)
    }

    @Test(.timeLimit(.minutes(1)))
    func `N19 two hundred thousand names are compared in linear time`() throws {
        let members = (0..<200_000).map { "\"key\($0)\":0" }.joined(separator: ",")
        let object = try StrictJSON.parseObject(Array("{\(members)}".utf8))
        #expect(object.members.count == 200_000)
        #expect(Self.reason("{\(members),\"key7\":0}") == .duplicateKey)
    }

    @Test
    func `N20 more bytes than an answer may have are refused unread`() {
        #expect(Self.reason(Array(repeating: 0x20, count: StrictJSON.sizeLimit + 1)) == .size)
    }

    @Test
    func `N21 a number of a million digits is refused at its first hundred`() {
        let error = #expect(throws: StrictJSONError.self) {
            try StrictJSON.parse(Array(("[" + String(repeating: "9", count: 1_000_000) + "]").utf8))
        }
        #expect(error?.reason == .json)
        #expect((error?.offset ?? .max) < 200)
    }

    @Test
    func `an error says where, and names no content`() {
        let error = #expect(throws: StrictJSONError.self) { try StrictJSON.parse(Array(#"{"secret":tru}"#.utf8)) }
        #expect(error == StrictJSONError(reason: .json, offset: 13))
        #expect(error.map { "\($0)".contains("secret") } == false)
    }
}
