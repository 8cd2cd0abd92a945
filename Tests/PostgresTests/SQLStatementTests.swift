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

    @Test func `a part stands in place of its name, and has parameters and parts of its own`() {
        let isOpen = Array("-- Whether it is open.\nb = :b AND state = :open".utf8)
        let read = SQLStatement(
            file: Array("SELECT FROM t WHERE :is_open AND a = :a".utf8),
            parts: ["is_open": isOpen, "open": Array("':open'".utf8)]
        )
        #expect(read.text == "SELECT FROM t WHERE b = $1 AND state = ':open' AND a = $2")
        #expect(read.parameters == ["b", "a"])
        #expect(read.cells(["a": .bigint(1)], ["b": .null]) == [.null, .bigint(1)])
    }
}
