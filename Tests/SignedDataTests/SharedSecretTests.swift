import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import SignedData

struct SharedSecretTests {
    private static let word = "0123456789abcdef0123456789abcdef"

    private func load(_ text: String, mode: mode_t = 0o600) async throws -> SharedSecret {
        try await withTemporaryDirectory { directory in
            let path = directory + "/secret"
            try Data(text.utf8).write(to: URL(filePath: path))
            try #require(unsafe chmod(path, mode) == 0)
            return try SharedSecret.load(file: path)
        }
    }

    @Test func `the secret is the word in the file, with or without a line end`() async throws {
        for end in ["", "\n", "\r\n"] {
            let secret = try await load(Self.word + end)
            #expect(secret.matches(Self.word))
            for other in [Self.word + "\n", "", String(Self.word.dropLast())] { #expect(!secret.matches(other)) }
            #expect(!"\(secret)".contains(Self.word) && !String(reflecting: secret).contains(Self.word))
        }
    }

    @Test(arguments: ["", "\n", "two words", "a\nb", String(repeating: "x", count: 257), "ü"])
    func `a file without one word is refused, and the message does not show it`(text: String) async throws {
        do {
            _ = try await load(text)
            Issue.record("\(text) was accepted")
        } catch let error as KeyFileError {
            #expect(error.description.contains("shared secret"))
            #expect(text.count < 3 || !error.description.contains(text))
        }
    }

    @Test func `a file that others can read, or that is not there, is refused`() async throws {
        await #expect(throws: KeyFileError.self) { _ = try await load(Self.word, mode: 0o644) }
        #expect(throws: KeyFileError(path: "/nowhere/secret", reason: .notFound, content: .sharedSecret)) {
            try SharedSecret.load(file: "/nowhere/secret")
        }
    }
}
