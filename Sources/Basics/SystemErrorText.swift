import Platform

/// What the system says about an error number, such as "No such file or directory".
package func systemErrorText(_ number: Int32) -> String {
    unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
}
