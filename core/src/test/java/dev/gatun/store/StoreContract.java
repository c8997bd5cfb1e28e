package dev.gatun.store;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** What every store does, whichever library is behind it. The same cases must notice every mutant of the embedded one. */
abstract class StoreContract {
  abstract StoreContractSubject subject();

  static List<ContractCase> cases() {
    return Stream.of(PutGetCases.all(), SizeCases.all(), ArgumentCases.all(), RemovalCases.all(), FlightCases.all(),
        LifetimeCases.all(), CapacityCases.all(), StampCases.all(), EpochCases.all(), ClientCases.all(), AbiCases.all())
        .flatMap(List::stream)
        .toList();
  }

  @TestFactory
  Stream<DynamicTest> contract() {
    StoreContractSubject subject = subject();
    return cases().stream().filter(contractCase -> subject.controlled() || !contractCase.controlled())
        .map(contractCase -> DynamicTest.dynamicTest(contractCase.name(), () -> contractCase.run(subject)));
  }
}
