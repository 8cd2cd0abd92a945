import CommandLineTool

/// `storeledger` with the crash loop's failpoints.
///
/// Everything else is the same code.
@main
enum Main {
    static func main() async {
        Failpoint.install()
        await StoreLedger.main()
    }
}
