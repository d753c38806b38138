/** A picture for a user interface. Its origin and, for SVG, its contents are untrusted. */
export interface Icon {
  /** An `https:`, `http:` or `data:` URI. */
  readonly src: string;
  /** Overrides the media type that the source reports. */
  readonly mimeType?: string;
  /** Sizes in pixels such as `48x48`, or `any` for scalable formats. Absent: any size. */
  readonly sizes?: readonly string[];
  /** The background it was drawn for. Absent: either. */
  readonly theme?: 'light' | 'dark';
}

/** A piece of software, as it describes itself. For display and logs; nobody has verified it. */
export interface Implementation {
  readonly name: string;
  readonly version: string;
  /** Display name. Absent: `name`. */
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
}
