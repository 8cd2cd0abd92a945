import Basics
import Testing

struct BucketURLTests {
    @Test func `a bucket and its prefix are read, without a slash at the end`() {
        #expect(BucketURL("s3://ledger-1/a/b=c/{bundleId}/")?.text == "s3://ledger-1/a/b=c/{bundleId}")
        #expect(BucketURL("s3://my.ledger")?.prefix == "" && BucketURL("s3://my.ledger/")?.text == "s3://my.ledger")
    }

    @Test(arguments: [
        "s3://", "s3:///a", "s3://ab", "s3://Ledger/a", "s3://-ledger/a", "s3://ledger-/a", "s3://led..ger/a",
        "s3://10.0.0.1/a",
        "s3://user:pass@ledger/a", "s3://ledger:9000/a", "s3://ledger//a", "s3://ledger/a//b", "s3://ledger/../b",
        "s3://ledger/a b",
        "s3://ledger/a?b", "s3://ledger/a#b", "s3://ledger/*", "S3://ledger/a", "gs://ledger/a", "https://ledger/a",
        "ledger/a",
        "s3://\(String(repeating: "l", count: 64))/a",
    ])
    func `OS8 another text is no bucket`(text: String) { #expect(BucketURL(text) == nil) }

    @Test func `a scheme is one of a URL, not of a path`() {
        #expect(
            urlScheme(of: "s3://b") == "s3" && urlScheme(of: "S3:/b") == "s3" && urlScheme(of: "file:///a") == "file"
        )
        #expect(urlScheme(of: "out/a:b/c") == nil && urlScheme(of: "/s3://a") == nil && urlScheme(of: "a:b") == nil)
    }
}
