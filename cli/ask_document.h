// A document that is named by its file on the command line.
#pragma once

#include <string>
#include <vector>

#include "swarmkv/pipeline.h"

namespace swarmkv::cli {

/// `file` may be "-". errors  UsageError  it is empty
DocumentSpec ask_document(const std::string& file);

/// What it is called where it is shown: "contract.txt", "standard input".
std::string document_title(const std::string& file);

/// Of several: the first two by name, "rules.txt, contract.txt and 3 more".
std::string title_of_documents(const std::vector<std::string>& files);

}  // namespace swarmkv::cli
