import Basics
import FoundationEssentials
import Glibc
import JobFiles
import JobSyntax
import Testing

@Suite struct FileRefusalTests {
    @Test
    func `JF01 a missing file, a directory and a FIFO are missing inputs`() throws {
        try JobFileText.inDirectory { directory in
            let fifo = "\(directory)/fifo"
            #expect(unsafe mkfifo(fifo, 0o600) == 0)
            for path in ["\(directory)/none.yaml", directory, fifo, "/dev/null"] {
                let error = #expect(throws: JobFileError.self) {
                    try AcceptedJobs.crawl.load(path: path, environment: [:])
                }
                #expect(error?.kind == .missingFile, "\(path)")
                #expect(error?.status == .missingInput)
            }
        }
    }

    @Test func `JF01 the message about a missing file names it`() throws {
        let error = #expect(throws: JobFileError.self) {
            try AcceptedJobs.crawl.load(path: "/nowhere/job.yaml", environment: [:])
        }
        #expect(
            error?.description == """
                /nowhere/job.yaml: the job file cannot be opened: No such file or directory; \
                name a regular file that can be read
                """
        )
    }

    @Test(arguments: [
        ("empty", [], "is empty"),
        ("only a comment", Array("# nothing\n".utf8), "holds no values"),
        ("a NUL byte", Array("version: 1\0\n".utf8), "holds a NUL byte at offset 10"),
        ("UTF-16", [0xFF, 0xFE, 0x76, 0x00], "is UTF-16"),
        ("UTF-16 without a mark", Array("v\0e\0".utf8), "holds a NUL byte"),
        ("a byte order mark", [0xEF, 0xBB, 0xBF] + Array(JobFileText.usual.utf8), "begins with a byte order mark"),
        ("Latin-1", [0x6E, 0x3A, 0x20, 0xE9], "is not UTF-8"),
        ("a control character", Array("name: \u{7}\n".utf8), "a character that YAML does not allow"),
    ])
    func `JF01 bytes that are no job file are invalid`(what: String, bytes: [UInt8], reason: String) throws {
        let error = #expect(throws: JobFileError.self) { try JobFileText.load(bytes: bytes) }
        #expect(error?.kind == .invalid, "\(what)")
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test func `a tab in the indentation is named as such, with its place`() throws {
        let error = #expect(throws: JobFileError.self) {
            try JobFileText.load(bytes: Array("version: 1\napp:\n\tbundleId: com.example.game\n".utf8))
        }
        #expect(
            error?.description.hasSuffix(
                ":3:1: the job file has a tab where YAML allows only spaces; indent with spaces"
            )
                == true,
            "\(error?.description ?? "")"
        )
    }

    @Test func `a file name in the place of the section csv is answered with the right form`() throws {
        let list = "list: [\"2000000123456789\"]"
        for (written, advice) in [
            ("csv: ids.csv", "transactionIds.csv is a text; write csv: {path: ids.csv}"),
            ("csv: postgresql://u:secret@h/d", "transactionIds.csv is a text; write csv: {path: ids.csv}"),
        ] {
            let complaint = try JobFileText.complaint(JobFileText.usual.replacing(list, with: written))
            #expect(complaint.contains(advice) && !complaint.contains("secret"), "\(complaint)")
        }
    }

    @Test func `JF01 10 MiB are refused`() throws {
        let error = #expect(throws: JobFileError.self) {
            try JobFileText.load(bytes: [UInt8](repeating: 0x61, count: 10_485_760))
        }
        #expect(error?.kind == .invalid && error?.description.contains("is longer than 64 KiB") == true)
    }

    @Test func `exactly 64 KiB is allowed`() throws {
        let padding = String(repeating: "#", count: 65_536 - JobFileText.usual.utf8.count)
        #expect(try JobFileText.refusal(bytes: Array((JobFileText.usual + padding).utf8)) == nil)
        #expect(try JobFileText.refusal(bytes: Array((JobFileText.usual + padding + "#").utf8)) == .invalid)
    }

    @Test func `JF02 an unknown key names the one that was meant`() throws {
        let text = JobFileText.usual + "limits:\n  concurency: 8\n"
        #expect(
            try JobFileText.complaint(text)
                == "job.yaml:18:3: limits.concurency is not a key; did you mean concurrency?"
        )
        #expect(
            try JobFileText.complaint(JobFileText.usual + "x: 1\n") == """
                job.yaml:17:1: x is not a key; the keys here are \
                version, name, app, appStore, transactionIds, streams, limits, output, notify, retention, receiver
                """
        )
    }

    @Test func `JF03 a key written twice is refused where it stands`() throws {
        #expect(
            try JobFileText.complaint(replacing: "name: nightly-sync", with: "name: a\nname: b")
                == "job.yaml:3:1: the job file has the key name twice in one mapping, first in line 2; write it once"
        )
        // Also in a mapping within one, after other keys, in quotes, and on one line.
        let limits = "limits:\n  share: 0.5\n  # twice\n\n  concurrency: 8\n  \"share\": 0.4\n"
        #expect(
            try JobFileText.complaint(JobFileText.usual + limits)
                == "job.yaml:22:3: the job file has the key share twice in one mapping, first in line 18; write it once"
        )
        let line = "limits: {share: 0.5, share: 0.4}\n"
        #expect(
            try JobFileText.complaint(JobFileText.usual + line).contains(
                "has the key share twice in one mapping; write it once"
            )
        )
    }

    @Test(arguments: [
        ("name: nightly-sync", "name: [a]", "job.yaml:2:7: name is a list; it must be 1 to 63 of"),
        ("name: nightly-sync", "name: 12", "job.yaml:2:7: name is the number 12; write it in quotes: \"12\""),
        ("version: 1", "version: \"1\"", "job.yaml:1:10: version is the text \"1\"; it must be 1"),
        ("version: 1", "version: 2", "job.yaml:1:10: version is the number 2; it must be 1"),
        ("  transactionHistory: {}", "  transactionHistory:", "is null; it must be a mapping; write {} for one"),
        ("name: nightly-sync", "name: ~", "name is null"),
        ("name: nightly-sync", "? [a, b]\n: c\nname: x", "has a key that is not text"),
        ("[\"2000000123456789\"]", "[2000000123456789]", "write it in quotes: \"2000000123456789\""),
        ("[\"2000000123456789\"]", "\"2000000123456789\"", "it must be a list, such as [a, b]"),
        ("appAppleId: 1234567890", "appAppleId: 0x10", "appAppleId is 0x10; it must be the app's Apple ID"),
        ("appAppleId: 1234567890", "appAppleId: 99999999999999999999", "it must be the app's Apple ID"),
    ])
    func `JF03 a wrong type is refused with line and column`(old: String, new: String, message: String) throws {
        let complaint = try JobFileText.complaint(replacing: old, with: new)
        #expect(complaint.contains(message), "\(complaint)")
        #expect(complaint.contains(#/^job\.yaml:\d+:\d+: /#))
    }

    @Test(arguments: ["[", "- ", "{a: ", "? "])
    func `JF03 10,000 levels are refused before anything recurses`(opening: String) throws {
        let text = "name: " + String(repeating: opening, count: 10_000)
        #expect(try JobFileText.refusal(bytes: Array(text.utf8)) == .invalid)
        let closed = "a: " + String(repeating: "[", count: 900) + String(repeating: "]", count: 900)
        #expect(
            try JobFileText.complaint(closed).hasSuffix("is nested too deeply; a job file needs four levels")
        )
    }

    @Test(arguments: [
        ("name: &n nightly-sync", "name has an anchor"),
        ("name: *n", "name has an alias"),
        ("name: !!str nightly-sync", "name has a tag"),
        ("name: ! nightly-sync", "name has a tag"),
        ("name: !!str \"nightly-sync\"", "name has a tag"),
        ("? &k name\n: nightly-sync", "name has an anchor"),
    ])
    func `anchors, aliases and tags are refused (T23)`(line: String, message: String) throws {
        let complaint = try JobFileText.complaint(replacing: "name: nightly-sync", with: line)
        #expect(complaint.contains("\(message); write the value out without it"), "\(complaint)")
    }

    @Test
    func `a billion values from a few aliases cost nothing (T23)`() throws {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...40 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(aliases)]\n"
        }
        text += "? *a40\n: 1\n"
        #expect(try JobFileText.refusal(bytes: Array(text.utf8)) == .invalid)
    }

    @Test func `an asterisk or an ampersand inside a value is only a character`() throws {
        let job = try JobFileText.load(
            replacing: "list: [\"2000000123456789\"]",
            with: "query: SELECT DISTINCT id /* & all */ FROM t WHERE a *b > 1"
        )
        #expect(job.transactionIds?.list == .query("SELECT DISTINCT id /* & all */ FROM t WHERE a *b > 1"))
    }

    @Test func `a second document is refused`() throws {
        #expect(
            try JobFileText.complaint(JobFileText.usual + "---\nversion: 1\n")
                == "job.yaml:17:1: the job file contains a second document; write each job into its own file"
        )
    }

    @Test func `broken YAML is refused where it breaks`() throws {
        let complaint = try JobFileText.complaint(replacing: "name: nightly-sync", with: "name: [a")
        #expect(complaint.contains(#/^job\.yaml:\d+:\d+: the job file is not valid YAML here \(.+\); fix it here/#))
    }

    @Test func `all mistakes are reported at once, in the order of the file`() throws {
        let text = JobFileText.usual
            .replacing("name: nightly-sync", with: "name: Nightly")
            .replacing("environment: Production", with: "environment: production")
        #expect(
            try JobFileText.complaint(text + "limits:\n  share: 1.5\n") == """
                job.yaml:2:7: name is Nightly; it must be 1 to 63 of a-z, 0-9 and -, and not begin with -, \
                such as nightly-sync
                job.yaml:6:16: app.environment is production; it must be Production or Sandbox
                job.yaml:18:10: limits.share is the number 1.5; it must be more than 0 and at most 1
                """
        )
    }
}
