/** Gatun: KV-cache transfer for the JVM. Start at {@code dev.gatun.store.KvStore}. */
@SuppressWarnings("module") // the command is built after this module
module dev.gatun.core {
  requires static transitive org.jspecify;
  requires dev.gatun.nativelib;
  requires dev.gatun.bindings;
  requires org.agrona;
  requires com.fasterxml.jackson.databind;
  requires com.fasterxml.jackson.dataformat.yaml;
  requires org.slf4j;
  requires java.net.http;
  requires jdk.httpserver;
  requires jdk.net;
  requires static micrometer.core;
  requires static org.lwjgl;
  requires static org.lwjgl.cuda;
  requires jdk.jfr;

  exports dev.gatun.backend;
  exports dev.gatun.codec;
  exports dev.gatun.connector;
  exports dev.gatun.device;
  exports dev.gatun.fleet;
  exports dev.gatun.internal.backend to dev.gatun.cli;
  exports dev.gatun.memory;
  exports dev.gatun.observe;
  exports dev.gatun.rdma;
  exports dev.gatun.refit;
  exports dev.gatun.store;
  exports dev.gatun.transfer;
  exports dev.gatun.transfer.device;

  uses dev.gatun.backend.EngineBackendProvider;
  uses dev.gatun.backend.StoreBackendProvider;
  uses dev.gatun.device.CudaDriverProvider;
  uses dev.gatun.rdma.RdmaProvider;

  provides dev.gatun.backend.EngineBackendProvider
      with dev.gatun.internal.backend.LoopbackEngineProvider, dev.gatun.internal.backend.MooncakeEngineProvider,
      dev.gatun.internal.backend.NixlEngineProvider;
  provides dev.gatun.backend.StoreBackendProvider
      with dev.gatun.internal.backend.LoopbackBackendProvider, dev.gatun.internal.backend.MooncakeBackendProvider;
  provides dev.gatun.device.CudaDriverProvider
      with dev.gatun.internal.device.FfmDriverProvider, dev.gatun.internal.device.HostDriverProvider,
      dev.gatun.internal.device.LwjglDriverProvider;
  provides dev.gatun.rdma.RdmaProvider with dev.gatun.internal.rdma.VerbsProvider;
}
