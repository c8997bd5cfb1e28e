package dev.gatun;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The package arrows of docs/architecture.md, read from the compiled classes. */
class ArchitectureTest {
  private static final String ROOT = "dev.gatun.";

  /** Each package and the Gatun packages it may use; nothing else may appear. */
  private static final Map<String, List<String>> ARROWS = Map.ofEntries(
      Map.entry("backend", List.of()),
      Map.entry("codec", List.of("backend")),
      Map.entry("memory", List.of("backend")),
      Map.entry("device", List.of("backend", "memory")),
      Map.entry("store", List.of("backend", "codec", "memory")),
      Map.entry("transfer", List.of("backend", "memory")),
      Map.entry("transfer.device", List.of("backend", "memory", "device", "transfer", "internal.ffm")),
      Map.entry("refit", List.of("backend", "codec")),
      Map.entry("connector",
          List.of("backend", "codec", "memory", "store", "refit", "transfer", "internal.http")),
      Map.entry("fleet", List.of("backend", "codec", "store", "refit", "internal.http")),
      Map.entry("observe", List.of("backend")),
      Map.entry("rdma", List.of("backend")),
      Map.entry("internal.http", List.of("backend")),
      Map.entry("internal.ffm", List.of("backend", "nativelib", "bindings")),
      Map.entry("internal.device", List.of("device", "internal.ffm", "bindings")),
      Map.entry("internal.rdma", List.of("rdma", "nativelib", "bindings")),
      Map.entry("internal.backend",
          List.of("backend", "rdma", "internal.ffm", "internal.http", "nativelib", "bindings")));

  private final JavaClasses core = new ClassFileImporter().importPath(Path.of("target", "classes"));

  @TestFactory
  @DisplayName("each package uses only what the architecture lets it")
  Stream<DynamicTest> arrows() {
    return ARROWS.entrySet().stream().map(arrow -> DynamicTest.dynamicTest(arrow.getKey(), () -> {
      String[] allowed = Stream.concat(Stream.of(arrow.getKey()), arrow.getValue().stream())
          .flatMap(name -> name.equals("nativelib") || name.equals("bindings")
              ? Stream.of(ROOT + name + "..")
              : Stream.of(ROOT + name))
          .toArray(String[]::new);
      classes().that().resideInAPackage(ROOT + arrow.getKey())
          .should().onlyDependOnClassesThat(not(resideInAnyPackage("dev.gatun..")).or(resideInAnyPackage(allowed)))
          .check(core);
    }));
  }

  @Test
  @DisplayName("every package of the module has an arrow of its own")
  void everyPackageIsListed() {
    List<String> unlisted = core.stream().map(JavaClass::getPackageName).distinct()
        .filter(name -> name.startsWith(ROOT) && !ARROWS.containsKey(name.substring(ROOT.length()))).sorted().toList();
    assertTrue(unlisted.isEmpty(), () -> "add to ArchitectureTest and docs/architecture.md: " + unlisted);
  }

  @Test
  @DisplayName("the backend vocabulary stands on the JDK alone")
  void backendStandsOnTheJdk() {
    noClasses().that().resideInAPackage(ROOT + "backend")
        .should().dependOnClassesThat(not(resideInAnyPackage("java..", ROOT + "backend", "org.jspecify..")))
        .check(core);
  }

  @Test
  @DisplayName("K13.07 native code never calls into Java: nothing makes an upcall stub, so no exception can leave one")
  void noUpcalls() {
    JavaClasses all = new ClassFileImporter().importPaths(Stream.of("native", "bindings", "core")
        .map(module -> Path.of("..", module, "target", "classes")).toArray(Path[]::new));
    for (String used : List.of("dev.gatun.nativelib", "dev.gatun.bindings.mooncake", "dev.gatun.bindings.cuda",
        "dev.gatun.store"))
      assertTrue(all.containPackage(used), used);
    noClasses().should().callMethodWhere(JavaCall.Predicates.target(HasName.Predicates.name("upcallStub"))).check(all);
    assertTrue(all.stream().flatMap(type -> type.getMethodCallsFromSelf().stream())
        .anyMatch(call -> call.getName().equals("downcallHandle")), "calls of the linker are seen");
  }

  @Test
  @DisplayName("no Agrona, Jackson, LWJGL or Micrometer type in a public signature, but for the meters' registry")
  void librariesStayInside() {
    DescribedPredicate<JavaMethod> shows = DescribedPredicate.describe("show a library's type",
        method -> Stream.concat(Stream.of(method.getRawReturnType()), method.getRawParameterTypes().stream())
            .anyMatch(type -> resideInAnyPackage("org.agrona..", "com.fasterxml..", "org.lwjgl..").test(type)));
    methods().that().arePublic().and().areDeclaredInClassesThat().arePublic()
        .and(shows).should().bePrivate().allowEmptyShould(true).check(core);
  }
}
