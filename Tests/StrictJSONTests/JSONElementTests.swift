import Testing

@testable import StrictJSON

struct JSONElementTests {
    private static func element(_ text: String) throws -> JSONElement { try StrictJSON.scan(Array(text.utf8)) }

    @Test(arguments: [
        "null", "[]", "{}", "true", "-12", "1e999", #""x""#,
        #"{"a":[1,{"b":"é\n\"","c":[]},null,false],"":{"d":2.50},"e\u0066":"\ud83d\ude00"}"#,
    ])
    func `a value as a document is the same value`(text: String) throws {
        let read = try Self.element(text)
        let made = JSONElement(read.value)
        #expect(made.value == read.value)
        #expect(made.documentHoldsUnsafeNumber == read.documentHoldsUnsafeNumber)
    }

    @Test func `members are found by their names in a table, and the first that is not there is named`() throws {
        let table = KeyTable(["price", "SKU", "offer"])
        let object = try Self.element(#"{"S\u004bU":"a","x":{"price":7},"offer":null,"y":0}"#)
        func values(_ element: JSONElement) -> [JSONValue?] {
            let members = element.members(in: table)
            return (0..<3).map { members[$0]?.value } + [members.unknownName.map(JSONValue.string)]
        }
        #expect(values(object) == [nil, .string("a"), .null, .string("x")])
        let inner = try #require(object["x"])
        #expect(values(inner) == [.number(JSONNumber(text: "7")), nil, nil, nil])
        #expect(try values(Self.element("[1]")) == [nil, nil, nil, nil])
    }

    @Test(arguments: [2, 16, 17, 40]) func `a repeated text is found in an array of any length`(count: Int) throws {
        func array(_ last: String) throws -> JSONElement {
            let elements = (1..<count).map { #"{"SKU":"s\#($0)"}"# } + [last]
            return try Self.element("[\(elements.joined(separator: ","))]")
        }
        #expect(try array(#"{"SKU":"s0"}"#).firstRepetition(of: "SKU") == nil)
        #expect(try array(#"{"sku":"s1"}"#).firstRepetition(of: "SKU") == nil)
        #expect(try array(#"{"SKU":"s1"}"#).firstRepetition(of: "SKU") == count - 1)
        #expect(try array(#"{"SKU":"\u00731"}"#).firstRepetition(of: "SKU") == count - 1)
    }
}
