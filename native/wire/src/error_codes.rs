//! Error codes with their numbers and their names in an RFC.

/// Declares an enum of error codes.
macro_rules! error_codes {
    (
        $(#[$enum_doc:meta])*
        enum ErrorCode: $number:ty {
            $($(#[$doc:meta])* $variant:ident = $code:literal, $name:literal;)*
        }
    ) => {
        $(#[$enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr($number)]
        pub enum ErrorCode { $($(#[$doc])* $variant = $code,)* }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name the RFC gives it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The number on the wire.
            #[must_use]
            pub const fn code(self) -> $number {
                self as $number
            }

            /// The code with this number; `None` if it is unknown, which is no error.
            #[must_use]
            pub fn from_code(code: $number) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.code() == code)
            }
        }

        impl std::fmt::Display for ErrorCode {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use error_codes;
