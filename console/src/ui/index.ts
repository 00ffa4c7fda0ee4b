// Everything pages are made of, by one name.
export * from "./act";
export * from "./frame";
export * from "./marks";
export * from "./plot";
export * from "./rows";
export * from "./text";
export * from "./time";
