package dev.gatun.transfer;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/** What every engine does, whichever library is behind it. */
@Timeout(300)
abstract class TransferContract {
  abstract TransferSubject subject();

  static List<TransferCase> cases() {
    return Stream
        .of(MoveCases.all(), RefusalCases.all(), NotificationCases.all(), FaultCases.all(), HandoverCases.all(),
            ProcessCases.all(), RegistrationCases.all(), RefitCases.all())
        .flatMap(List::stream).toList();
  }

  @TestFactory
  Stream<DynamicTest> contract() {
    TransferSubject subject = subject();
    return cases().stream().filter(transferCase -> subject.controlled() || !transferCase.controlled())
        .map(transferCase -> DynamicTest.dynamicTest(transferCase.name(), () -> transferCase.run(subject)));
  }
}
