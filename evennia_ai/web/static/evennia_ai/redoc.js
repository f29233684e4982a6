/* Evennia 5.0.1 asks for Redoc as a plain script; what we have of it is a module. */
import(new URL("vendor/redoc-3.0.0-rc.0/redoc.standalone.js", document.currentScript.src));
