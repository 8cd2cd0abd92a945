import StrictJSON
import Testing

struct JSONWriterTests {
    @Test(arguments: [
        #"{"a":[1,-2.5e3,true,false,null,"x"],"":{},"b":[]}"#, #""\"\\\n\r\t\u0001\u001f/é😀""#, "\"\u{7F}\u{2028}\"",
    ])
    func `what is written is what was read, and reads as the same`(_ text: String) throws {
        let value = try StrictJSON.parse(Array(text.utf8))
        #expect(JSONWriter.text(value) == text)
        #expect(try StrictJSON.parse(JSONWriter.bytes(value)) == value)
    }

    @Test
    func `N11 a number the database would expand becomes text`() throws {
        let element = try StrictJSON.scan(Array(#"{"price":1e131071,"tax":[1e3]}"#.utf8))
        #expect(element.documentHoldsUnsafeNumber)
        #expect(JSONWriter.text(element.value) == #"{"price":"1e131071","tax":[1e3]}"#)
    }

    @Test
    func `an ordinary document contains no unsafe number`() throws {
        #expect(try !StrictJSON.scan(Array(#"{"a":[{"b":9990,"c":"1e131071"}]}"#.utf8)).documentHoldsUnsafeNumber)
    }
}
