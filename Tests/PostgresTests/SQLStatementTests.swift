import LedgerSchema
import Testing

@testable import Postgres

/// Statements in files, with named parameters.
struct SQLStatementTests {
    private func statement(_ text: String) -> SQLStatement { SQLStatement(file: Array(text.utf8)) }

    @Test func `a name becomes a number, the same one wherever it occurs`() {
        let read = statement("SELECT :a, :b_c::text, :a::bigint + 1, x[:b_c]")
        #expect(read.text == "SELECT $1, $2::text, $1::bigint + 1, x[$2]")
        #expect(read.parameters == ["a", "b_c"])
        #expect(read.cells(["b_c": .text("x"), "a": .bigint(1)]) == [.bigint(1), .text("x")])
    }

    @Test(arguments: [
        "SELECT ':a', \":b\" -- :c, it's Apple's\n FROM t", "SELECT 'it''s :a'", "SELECT 1::text, '12:30'::time",
        "SELECT 1 -- :a", "SELECT 'open :a",
    ])
    func `what is quoted, a comment or a cast has no parameters`(text: String) {
        #expect(statement(text).text == text && statement(text).parameters.isEmpty)
    }

    @Test func `the comment at the top of a file is not sent`() {
        #expect(statement("-- What :it does.\n--\nSELECT :a\n-- why\n").text == "SELECT $1\n-- why\n")
    }
}
