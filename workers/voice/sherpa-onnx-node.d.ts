/** The part of the package that is used; it has no types of its own. */
declare module 'sherpa-onnx-node' {
  export interface VadConfig {
    sileroVad: {
      model: string;
      threshold: number;
      /** Seconds. */
      minSilenceDuration: number;
      minSpeechDuration: number;
      maxSpeechDuration: number;
      /** Samples. */
      windowSize: number;
    };
    sampleRate: number;
    numThreads: number;
    provider: string;
  }
  export class Vad {
    constructor(config: VadConfig, bufferSec: number);
    acceptWaveform(samples: Float32Array): void;
    isEmpty(): boolean;
    /** With false, the samples are copied into memory of JavaScript. */
    front(external?: boolean): { start: number; samples: Float32Array };
    pop(): void;
    flush(): void;
    reset(): void;
  }
  const sherpa: { Vad: typeof Vad };
  export default sherpa;
}
