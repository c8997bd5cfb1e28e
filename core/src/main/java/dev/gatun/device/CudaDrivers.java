package dev.gatun.device;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.StreamSupport;

/**
 * The ways to the GPU driver that are there, each opened when first asked for. One that cannot be opened is tried again
 * each time, with the same answer in words.
 */
public final class CudaDrivers {
  /** System property that names the way to the driver. */
  public static final String PROPERTY = "gatun.device.driver";
  /** The way that is taken unless the property names another. */
  public static final String DEFAULT = "ffm";

  private static final Map<String, CudaDriver> OPENED = new ConcurrentHashMap<>();

  private CudaDrivers() {}

  /** {@return the names of all ways, those that cannot be opened included} */
  public static List<String> names() {
    return StreamSupport.stream(providers().spliterator(), false).map(CudaDriverProvider::name).sorted().toList();
  }

  /** {@return what the way finds that {@link Device#open(int)} takes; as {@link #probe(String)}} */
  public static DriverReport probe() {
    return probe(selected());
  }

  /**
   * Looks what one way finds, without throwing. Opens the driver, but no GPU: takes no GPU memory. Blocks, a second or so
   * the first time.
   *
   * @param name of the way
   * @return what was found, or what is missing
   */
  public static DriverReport probe(String name) {
    try {
      CudaDriver driver = open(name);
      List<DeviceInfo> devices = new ArrayList<>();
      for (int ordinal = 0; ordinal < driver.deviceCount(); ordinal++)
        devices.add(driver.describe(ordinal));
      return new DriverReport(name, driver.version(), devices, "", "");
    } catch (DriverUnavailableException e) {
      return new DriverReport(name, "", List.of(), e.missing(), e.fix());
    } catch (DeviceException e) {
      return new DriverReport(name, "", List.of(), String.valueOf(e.getMessage()), "see nvidia-smi");
    }
  }

  /** {@return the way that the property {@value #PROPERTY} selects} */
  static String selected() {
    return System.getProperty(PROPERTY, DEFAULT);
  }

  static CudaDriver open(String name) {
    return OPENED.computeIfAbsent(name, CudaDrivers::find);
  }

  private static CudaDriver find(String name) {
    for (CudaDriverProvider provider : providers())
      if (provider.name().equals(name)) return provider.open();
    throw new IllegalArgumentException("driver must be one of " + names() + ": " + name);
  }

  private static ServiceLoader<CudaDriverProvider> providers() {
    return ServiceLoader.load(CudaDriverProvider.class, CudaDriver.class.getClassLoader());
  }
}
