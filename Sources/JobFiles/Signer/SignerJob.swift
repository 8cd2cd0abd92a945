/// The part of a job file that `sign` needs: the app and its key.
///
/// Every job file with `app` and `appStore` has it. The other sections are not read, so neither they nor the variables that they name
/// need to be complete on the machine that signs.
package struct SignerJob: Equatable, Sendable {
    package let path: String
    package let name: String
    package let app: JobFile.App
    package let appStore: JobFile.AppStore
}
