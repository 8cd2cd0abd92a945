import Basics
import HTTPTransport
import Testing

@testable import ObjectStorage

struct BucketAccessTests {
    private static let usual = [
        "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret/key", "AWS_REGION": "eu-central-1",
    ]

    private func access(_ url: String, _ changes: [String: String] = [:]) throws -> BucketAccess {
        let environment = Self.usual.merging(changes) { $1 }
        return try BucketAccess(try #require(BucketURL(url)), environment: environment)
    }

    @Test(arguments: [
        ("s3://ledger/a", [:], "https://ledger.s3.eu-central-1.amazonaws.com", "ledger.s3.eu-central-1.amazonaws.com"),
        ("s3://led.ger/a", [:], "https://s3.eu-central-1.amazonaws.com/led.ger", "s3.eu-central-1.amazonaws.com"),
        (
            "s3://ledger/a", ["AWS_REGION": "cn-north-1"], "https://ledger.s3.cn-north-1.amazonaws.com.cn",
            "ledger.s3.cn-north-1.amazonaws.com.cn"
        ),
        (
            "s3://ledger", ["AWS_ENDPOINT_URL_S3": "https://storage.example.com:9000/s3/"],
            "https://storage.example.com:9000/s3/ledger", "storage.example.com:9000"
        ),
    ])
    func `a bucket has its own host at Amazon, and a path elsewhere`(
        url: String,
        changes: [String: String],
        base: String,
        host: String
    ) throws {
        let access = try access(url, changes)
        #expect(access.base == base && access.host == host)
    }

    @Test func `OS4 a missing or invalid variable is named, and no value is shown`() throws {
        for (changes, part) in [
            (["AWS_ACCESS_KEY_ID": ""], "AWS_ACCESS_KEY_ID is missing"),
            (["AWS_SECRET_ACCESS_KEY": ""], "AWS_SECRET_ACCESS_KEY is missing"),
            (["AWS_REGION": ""], "AWS_REGION"), (["AWS_REGION": "eu:central"], "AWS_REGION is not"),
            (["AWS_SECRET_ACCESS_KEY": "two\nlines-of-it"], "AWS_SECRET_ACCESS_KEY has"),
            (["AWS_ENDPOINT_URL_S3": "https://user:pass@host"], "AWS_ENDPOINT_URL_S3 is not"),
            (["AWS_ENDPOINT_URL_S3": "ftp://host"], "AWS_ENDPOINT_URL_S3 is not"),
            (["SSLKEYLOGFILE": "/tmp/keys"], "SSLKEYLOGFILE"),
        ] {
            let error = #expect(throws: ObjectStorageError.self) { try access("s3://ledger", changes) }
            #expect(error?.status == .configuration && error?.sentence.contains(part) == true, "\(part)")
            #expect(error?.sentence.contains("lines-of-it") == false && error?.sentence.contains("pass@") == false)
        }
    }

    @Test func `without a region, a server other than Amazon's gets us-east-1`() throws {
        let access = try access("s3://ledger", ["AWS_REGION": "", "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9000"])
        #expect(access.signature.region == "us-east-1" && "\(access.signature)" == "<redacted>")
    }

    @Test func `a name is percent-encoded as it is signed`() {
        #expect(Bucket.encoded("dt=2026-11-29/a~b_c.d é", slash: true) == "dt%3D2026-11-29/a~b_c.d%20%C3%A9")
        #expect(Bucket.encoded("a/b+", slash: false) == "a%2Fb%2B")
    }

    @Test func `an answer in XML is read element by element`() {
        let text =
            "<List><Key>a&amp;b</Key><Owner><ID>x</ID></Owner><Key>c &lt;&#34;</Key><IsTruncated>false</IsTruncated></List>"
        let document = S3Document(Array(text.utf8))
        #expect(document.all("Key") == ["a&b", "c <\""] && document.first("IsTruncated") == "false")
        #expect(document.first("Code") == nil && S3Document(Array("<Key>cut".utf8)).all("Key").isEmpty)
    }
}
