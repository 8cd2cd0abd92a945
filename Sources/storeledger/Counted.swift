/// A number with a noun, such as `1 page` or `3 pages`.
func counted(_ number: some BinaryInteger, _ thing: String) -> String {
    "\(number) \(thing)\(number == 1 ? "" : "s")"
}
