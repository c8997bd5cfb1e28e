// Prints what the compiler makes of each C function: "name return parameter parameter ..."; each type is
// kind:size:alignment. The test appends main, with one line a function.
#include <cstdio>
#include <type_traits>

template <typename T>
void print_type() {
    if constexpr (std::is_void_v<T>) {
        std::printf(" void");
    } else {
        const char *kind = std::is_pointer_v<T> ? "pointer"
            : std::is_floating_point_v<T>       ? "floating"
            : std::is_class_v<T>                ? "struct"
            : std::is_integral_v<T> || std::is_enum_v<T> ? "integer" : "unknown";
        std::printf(" %s:%zu:%zu", kind, sizeof(T), alignof(T));
    }
}

template <typename Function>
struct Signature;

template <typename Return, typename... Parameters>
struct Signature<Return(Parameters...)> {
    static void print(const char *name) {
        std::printf("%s", name);
        print_type<Return>();
        (print_type<Parameters>(), ...);
        std::printf("\n");
    }
};

template <typename Return, typename... Parameters>
struct Signature<Return(Parameters..., ...)> {
    static void print(const char *name) { std::printf("%s variadic\n", name); }
};
